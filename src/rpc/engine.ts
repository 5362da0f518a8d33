/**
 * Carries out one request: finds the row, reads the parameters, checks the permission, calls the handler, prints the
 * answer. Knows nothing of transports. Order of checks and texts: rpc-wire, section 1.
 * @see go-jsonrpc handler.go handle; auth/auth.go PermissionedProxy
 */
import { MAX_ANSWER_BYTES } from '../base/bounds.ts'
import { lengthOf } from '../base/bytes.ts'
import type { Logger } from '../base/ports.ts'
import { finish, type Steps, type Walk } from '../base/steps.ts'
import { whenAborted } from '../base/waiting.ts'
import type { JsonContext } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import { allAtHand } from '../ipld/blockFetcher.ts'
import { walkFetching } from '../ipld/found.ts'
import { argumentsOf } from './arguments.ts'
import { asRpcError, panic } from './asRpcError.ts'
import { CheapCall } from './cheapCall.ts'
import { type CallerName, type CostQueues, type DearClass, type Place, RETRY_AFTER_SEC } from './cost.ts'
import { RpcError } from './errors.ts'
import type { Held } from './held.ts'
import { type ListingPart, ListingParts } from './listing.ts'
import { type ApiVersion, type CallContext, type ChannelSink, PrintedResult } from './method.ts'
import { type Outcome, PrintedAnswer, type StreamedOutcome } from './outcome.ts'
import { answerTooLong, printResult } from './printResult.ts'
import type { RpcRequest } from './request.ts'
import { failureText, successPieces, successText } from './response.ts'
import { Subscriptions } from './subscriptions.ts'
import type { MethodTable, TableEntry } from './table.ts'

/** Who asks, and where; what a connection of its own can do. */
export interface Caller extends Pick<CallContext, 'notify' | 'subscribed' | 'disconnect'> {
  readonly version: ApiVersion
  readonly permissions: ReadonlySet<string>
  readonly signal: AbortSignal
  /** Aborted when the connection ends. */
  readonly ended: AbortSignal
  /** Whose share its calls count in. */
  readonly name: CallerName
  /** What the request is counted for; freed before it is answered where nothing of it is needed any more. */
  readonly held?: Held | undefined
}

/** Starts a channel and answers with its number; undefined over HTTP, where channel methods are refused. */
export type OpenChannel = (
  request: RpcRequest,
  start: (sink: ChannelSink<unknown>) => () => void,
  valueText: (value: unknown) => string,
) => void

/** What the engine is made of. */
export interface EngineDeps {
  readonly table: MethodTable
  readonly json: JsonContext
  readonly log: Logger
  /** Where calls that cost much wait; undefined: nowhere. */
  readonly queues?: CostQueues
  /** Hears what each answered call took; failed: the handler did. */
  readonly onCall?:
    | { readonly nowMs: () => number; called(method: string, ms: number, failed: boolean): void }
    | undefined
}

const SILENT: Outcome = { kind: 'silent' }

/** Stands for a result that is not there yet; in no id. */
const MARK = '\u0000'
/** Longest list in the result of a cheap call that is no matter to print at once. */
const CHEAP_ITEMS = 64

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise
}

/** The engine. One per server. */
export class RpcEngine {
  /** What the callers of its server have open. */
  readonly subscriptions: Subscriptions = new Subscriptions()
  readonly #deps: EngineDeps

  constructor(deps: EngineDeps) {
    this.#deps = deps
  }

  /** Carries out a request; at once where the handler is synchronous. What became of it is to be sent when it is {@link told}. */
  dispatch(request: RpcRequest, caller: Caller, openChannel: OpenChannel | undefined): Outcome | Promise<Outcome> {
    return this.#counted(request, () => this.#dispatch(request, caller, openChannel))
  }

  /** What became of a request, later where it was one too many. */
  told<T extends Outcome | StreamedOutcome>(outcome: T | Promise<T>): T | Promise<T> {
    if (!isPromise(outcome) && outcome.kind !== 'busy') return outcome
    return this.#deps.queues?.refusedLater(Promise.resolve(outcome)) ?? outcome
  }

  /** Takes frames, each a step: at once, or in turns with others. */
  takeFrames(steps: Steps<void>): void | Promise<void> {
    return this.#deps.queues === undefined ? finish(steps) : this.#deps.queues.takeFrames(steps)
  }

  /** The same, for who can send an answer in parts. Results that are small have none. */
  dispatchStreaming(
    request: RpcRequest,
    caller: Caller,
    openChannel?: OpenChannel,
  ): Outcome | StreamedOutcome | Promise<Outcome | StreamedOutcome> {
    return this.#counted<Outcome | StreamedOutcome>(
      request,
      () => this.#listed(request, caller) ?? this.#dispatch(request, caller, openChannel),
    )
  }

  #counted<T extends Outcome | StreamedOutcome>(request: RpcRequest, run: () => T | Promise<T>): T | Promise<T> {
    const { onCall } = this.#deps
    if (onCall === undefined) return run()
    const startedMs = onCall.nowMs()
    const method = request.method.slice(request.method.indexOf('.') + 1)
    const told = <T extends Outcome | StreamedOutcome>(outcome: T): T => {
      if (outcome.kind === 'answered' || outcome.kind === 'streamed') {
        onCall.called(method, onCall.nowMs() - startedMs, outcome.kind === 'answered' && outcome.failed === true)
      }
      return outcome
    }
    const outcome = run()
    return outcome instanceof Promise ? outcome.then(told) : told(outcome)
  }

  #dispatch(request: RpcRequest, caller: Caller, openChannel: OpenChannel | undefined): Outcome | Promise<Outcome> {
    let entry: TableEntry
    let args: readonly unknown[]
    try {
      entry = this.#find(request, caller, openChannel !== undefined)
      args = argumentsOf(request, entry.row, this.#deps.json)
    } catch (error) {
      return this.#refused(request, error)
    }
    const { row } = entry
    // What a wait or a channel holds is what its parameters became, however long their text was.
    if (row.kind === 'channel' || (row.kind === 'call' && row.cost === 'wait')) caller.held?.free()
    try {
      if (!caller.permissions.has(row.perm)) {
        throw new RpcError('FAILED', `missing permission to invoke '${row.permName ?? row.name}' (need '${row.perm}')`)
      }
      if (row.kind === 'channel') {
        // Without an id there is no way to tell the client the channel's number.
        if (request.id === null) return SILENT
        const context = this.#context(caller, caller.signal)
        openChannel?.(
          request,
          (sink) => row.subscribe(args, sink, context),
          (value) => this.#resultText(entry, value),
        )
        return SILENT
      }
      const { queues } = this.#deps
      if (queues === undefined) return this.#cheap(request, entry, args, this.#context(caller, caller.signal))
      if (row.cost !== 'cheap') return this.#dear(request, entry, args, caller, { cost: row.cost, queues })
      if (row.noDeadline !== undefined) return this.#cheap(request, entry, args, this.#context(caller, caller.signal))
      const call = new CheapCall(caller, this.#deps.json, queues, this.#wants(caller))
      return this.#cheap(request, entry, args, call, call)
    } catch (error) {
      return this.#failure(request, entry, error)
    }
  }

  #wants({ name }: Caller): (bytes: number) => () => void {
    return (bytes) => this.subscriptions.want(name, bytes)
  }

  /** @param hasPlace - it executes in the place that it has */
  #context(caller: Caller, signal: AbortSignal, hasPlace = false): CallContext {
    const { queues, json } = this.#deps
    const wants = this.#wants(caller)
    if (queues === undefined) return { ...caller, json, walk: finish, wants }
    const { name } = caller
    return {
      ...caller,
      json,
      signal,
      wants,
      walk: (steps, own = signal) => queues.walk(steps, own),
      scan: (task) => queues.run('scan', name, signal, task),
      execute: hasPlace ? undefined : (task) => queues.run('execute', name, signal, task),
    }
  }

  /** @param call - ends it at its deadline; undefined: it has none */
  #cheap(
    request: RpcRequest,
    entry: TableEntry,
    args: readonly unknown[],
    context: CallContext,
    call?: CheapCall,
  ): Outcome | Promise<Outcome> {
    let result: unknown
    try {
      result = this.#handle(request, entry, args, context)
    } catch (error) {
      call?.end()
      return this.#failure(request, entry, error)
    }
    if (!isPromise(result)) {
      call?.end()
      return this.#success(request, entry, result)
    }
    return (call?.inTime(result) ?? result).then(
      (value) => this.#success(request, entry, value),
      (error: unknown) => this.#failure(request, entry, error),
    )
  }

  #handle(request: RpcRequest, { row }: TableEntry, args: readonly unknown[], context: CallContext): unknown {
    if (row.kind === 'channel') return undefined
    if (row.kind === 'call') return row.handle(args, context)
    const { params } = request
    // As in argumentsOf: a subscription holds on to its call.
    request.params = undefined
    return row.handle(params, context)
  }

  /** A call that waits for its place; its answer is printed in a turn of its own. */
  async #dear(
    request: RpcRequest,
    entry: TableEntry,
    args: readonly unknown[],
    caller: Caller,
    { cost, queues }: { cost: DearClass; queues: CostQueues },
  ): Promise<Outcome> {
    try {
      return await queues.run(cost, caller.name, caller.signal, async (signal) => {
        const context = this.#context(caller, signal, cost !== 'wait')
        const { walk } = context
        const result = this.#handle(request, entry, args, context)
        if (!isPromise(result)) return this.#answer(request, entry, await walk(this.#text(entry, result)))
        const value = await result
        if (value instanceof PrintedResult) return this.#printed(request, entry, value)
        const text = await queues.turn(async () => await walk(this.#text(entry, value)))
        return this.#answer(request, entry, text)
      })
    } catch (error) {
      return this.#failure(request, entry, error)
    }
  }

  /** undefined: it is none of many items, a notification, or cannot be carried out, which is told in the ordinary way. */
  #listed(request: RpcRequest, caller: Caller): Promise<Outcome | StreamedOutcome> | undefined {
    const { table, queues, json } = this.#deps
    const entry = table.find(caller.version, request.method)
    if (entry?.row.kind !== 'call' || entry.row.list === undefined || queues === undefined) return undefined
    const { list, cost, perm, edge = allAtHand } = entry.row
    if (request.id === null || cost === 'cheap' || !caller.permissions.has(perm)) return undefined
    let args: readonly unknown[]
    try {
      args = argumentsOf(request, entry.row, json)
    } catch (error) {
      return Promise.resolve(this.#refused(request, error))
    }
    const { promise, resolve } = Promise.withResolvers<Outcome | StreamedOutcome>()
    const sent = async (): Promise<void> =>
      await queues.run(cost, caller.name, caller.signal, async (signal, place) => {
        const parts = await edge(() => new ListingParts(list(args), json), signal)
        const walk: Walk = (steps) => queues.walk(steps, signal)
        const next = (): Promise<ListingPart> => edge(() => walkFetching(parts.next(), { walk, edge, signal }), signal)
        try {
          await this.#parts(request, entry, { parts, next }, { signal, place }, resolve)
        } finally {
          parts.close()
        }
      })
    sent().catch((error: unknown) => resolve(this.#failure(request, entry, error)))
    return promise
  }

  /** Ends when all has been sent, or nobody wants it any more. @param answer - is told once, of the first part */
  async #parts(
    request: RpcRequest,
    entry: TableEntry,
    { parts, next }: { parts: ListingParts<unknown, unknown>; next: () => Promise<ListingPart> },
    { signal, place }: { signal: AbortSignal; place: Place },
    answer: (outcome: Outcome | StreamedOutcome) => void,
  ): Promise<void> {
    const { brackets, whole } = parts.listing
    const [opening, closing] = brackets
    const first = await next()
    if (first.isLast) {
      // Without items the codec says how that looks.
      const text =
        first.count === 0
          ? stringifyJson(entry.row.result.toJson(whole([]), this.#deps.json))
          : opening + first.text + closing
      answer(this.#answer(request, entry, text))
      return
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    whenAborted(signal, end)
    async function* rest(): AsyncGenerator<string, void, void> {
      try {
        for (let isLast = false; !isLast; ) {
          // Asked for when what was sent before has been taken.
          await place.enter()
          const part = await next()
          isLast = part.isLast
          place.leave()
          yield part.text
        }
        yield `${closing}}\n`
      } finally {
        end()
      }
    }
    const [before] = successText(request.id, MARK).split(MARK)
    place.leave()
    const text = `${before}${opening}${first.text}`
    answer({ kind: 'streamed', text, rest: rest(), closing, signal, waits: () => place.waits() })
    await ended
  }

  #find(request: RpcRequest, caller: Caller, channels: boolean): TableEntry {
    const entry = this.#deps.table.find(caller.version, request.method)
    if (entry === undefined) throw new RpcError('METHOD_NOT_FOUND', `method '${request.method}' not found`)
    if (entry.row.kind === 'channel' && !channels) {
      const text = `method '${request.method}' not supported in this mode (no out channel support)`
      throw new RpcError('METHOD_NOT_FOUND', text)
    }
    return entry
  }

  #resultText(entry: TableEntry, value: unknown): string {
    return finish(this.#text(entry, value))
  }

  *#text(entry: TableEntry, value: unknown): Steps<string> {
    const { texts } = entry
    const known = typeof value === 'object' && value !== null ? texts?.get(value) : undefined
    if (known !== undefined) return known
    const text = yield* this.#print(entry, value)
    if (typeof value === 'object' && value !== null) texts?.set(value, text)
    return text
  }

  *#print({ row }: TableEntry, value: unknown): Steps<string> {
    const { json } = this.#deps
    if (row.kind === 'call' && row.resultText !== undefined) return row.resultText(value, json)
    const isShort = row.cost === 'cheap' && !(Array.isArray(value) && value.length > CHEAP_ITEMS)
    return isShort ? stringifyJson(row.result.toJson(value, json)) : yield* printResult(row.result, value, json)
  }

  #success(request: RpcRequest, entry: TableEntry, value: unknown): Outcome {
    if (request.id === null) return SILENT
    try {
      if (value instanceof PrintedResult) return this.#printed(request, entry, value)
      return this.#answer(request, entry, this.#resultText(entry, value))
    } catch (error) {
      return this.#failure(request, entry, error)
    }
  }

  #answer(request: RpcRequest, entry: TableEntry, text: string): Outcome {
    if (request.id === null) return SILENT
    if (text.length > MAX_ANSWER_BYTES) {
      return this.#failure(request, entry, answerTooLong(String(text.length)))
    }
    return { kind: 'answered', text: successText(request.id, text) }
  }

  #printed(request: RpcRequest, entry: TableEntry, { pieces }: PrintedResult): Outcome {
    if (request.id === null) return SILENT
    const bytes = lengthOf(pieces)
    if (bytes > MAX_ANSWER_BYTES) return this.#failure(request, entry, answerTooLong(String(bytes)))
    return new PrintedAnswer(successPieces(request.id, pieces))
  }

  /** A codec that fails in another way than it may is a bug as that of a handler is: the node goes on. */
  #refused({ id, method }: RpcRequest, error: unknown): Outcome {
    const failure = error instanceof RpcError ? error : panic(error, method, this.#deps.log)
    return { kind: 'refused', text: failureText(id, failure) }
  }

  #failure(request: RpcRequest, { row }: TableEntry, error: unknown): Outcome {
    const failure = asRpcError(error, request.method, row, this.#deps.log)
    if (failure.code === 'PANIC') return { kind: 'refused', text: failureText(request.id, failure) }
    if (request.id === null) return SILENT
    const text = failureText(request.id, failure)
    return failure.code === 'LIMIT_EXCEEDED'
      ? { kind: 'busy', text, retryAfterSec: RETRY_AFTER_SEC }
      : { kind: 'answered', text, failed: true, error }
  }
}
