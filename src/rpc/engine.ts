/**
 * Carries out one request: finds the row, reads the parameters, checks the permission, calls the handler, prints the
 * answer. Knows nothing of transports. Order of checks and texts: rpc-wire, section 1.
 * @see go-jsonrpc handler.go handle; auth/auth.go PermissionedProxy
 */
import { MAX_ANSWER_BYTES } from '../base/bounds.ts'
import { lengthOf } from '../base/bytes.ts'
import { PetrelError } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import { finish, type Steps, type Walk } from '../base/steps.ts'
import { whenAborted } from '../base/waiting.ts'
import type { Codec, Json, JsonContext } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import { allAtHand } from '../ipld/blockFetcher.ts'
import { walkFetching } from '../ipld/found.ts'
import { asRpcError, panic } from './asRpcError.ts'
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

/** Go's type of a parameter as it stands in error texts. */
function goType(codec: Codec<unknown>): string {
  return `*${codec.goType ?? codec.name}`
}

function paramArray(params: Json | undefined): Json[] {
  if (params === undefined || params === null) return []
  if (Array.isArray(params)) return params
  const kind = typeof params === 'boolean' ? 'bool' : typeof params === 'bigint' ? 'number' : typeof params
  throw new RpcError(
    'PARSE_ERROR',
    `unmarshaling param array: json: cannot unmarshal ${kind} into Go value of type []jsonrpc.param`,
  )
}

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
  ): Outcome | StreamedOutcome | Promise<Outcome | StreamedOutcome> {
    return this.#counted<Outcome | StreamedOutcome>(
      request,
      () => this.#listed(request, caller) ?? this.#dispatch(request, caller, undefined),
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
      args = this.#arguments(request, entry)
    } catch (error) {
      return this.#refused(request, error)
    }
    const { row } = entry
    if (row.kind === 'call' && row.cost === 'wait') {
      // What a wait holds is what its parameters became, however long their text was.
      request.params = undefined
      caller.held?.free()
    }
    try {
      if (!caller.permissions.has(row.perm)) {
        throw new RpcError('FAILED', `missing permission to invoke '${row.permName ?? row.name}' (need '${row.perm}')`)
      }
      const { queues } = this.#deps
      const walk = <T>(steps: Steps<T>, signal = caller.signal): T | Promise<T> =>
        queues === undefined ? finish(steps) : queues.walk(steps, signal)
      const scan = <T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> =>
        queues === undefined ? task(caller.signal) : queues.run('scan', caller.name, caller.signal, task)
      const context: CallContext = { ...caller, json: this.#deps.json, walk, scan }
      if (row.kind === 'channel') {
        // Without an id there is no way to tell the client the channel's number.
        if (request.id === null) return SILENT
        openChannel?.(
          request,
          (sink) => row.subscribe(args, sink, context),
          (value) => this.#resultText(entry, value),
        )
        return SILENT
      }
      if (row.cost !== 'cheap' && queues !== undefined) {
        return this.#dear(request, entry, args, context, { cost: row.cost, queues, name: caller.name })
      }
      const result = this.#handle(request, entry, args, context)
      if (!isPromise(result)) return this.#success(request, entry, result)
      return result.then(
        (value) => this.#success(request, entry, value),
        (error: unknown) => this.#failure(request, entry, error),
      )
    } catch (error) {
      return this.#failure(request, entry, error)
    }
  }

  #handle(request: RpcRequest, { row }: TableEntry, args: readonly unknown[], context: CallContext): unknown {
    if (row.kind === 'channel') return undefined
    return row.kind === 'call' ? row.handle(args, context) : row.handle(request.params, context)
  }

  /** A call that waits for its place; its answer is printed in a turn of its own. */
  async #dear(
    request: RpcRequest,
    entry: TableEntry,
    args: readonly unknown[],
    context: CallContext,
    { cost, queues, name }: { cost: DearClass; queues: CostQueues; name: CallerName },
  ): Promise<Outcome> {
    try {
      return await queues.run(cost, name, context.signal, async (signal) => {
        const walk = <T>(steps: Steps<T>, own = signal): T | Promise<T> => queues.walk(steps, own)
        const result = this.#handle(request, entry, args, { ...context, signal, walk })
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
      args = this.#arguments(request, entry)
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
    answer({ kind: 'streamed', text: `${before}${opening}${first.text}`, rest: rest() })
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

  #arguments(request: RpcRequest, entry: TableEntry): readonly unknown[] {
    const { row } = entry
    if (row.kind === 'raw') return []
    const given = paramArray(request.params)
    const { params } = row
    if (given.length !== params.length) {
      const text = `wrong param count (method '${request.method}'): ${given.length} != ${params.length}`
      throw new RpcError('INVALID_PARAMS', text)
    }
    const args: unknown[] = []
    for (let i = 0; i < params.length; i++) {
      const codec = (params[i] as (typeof params)[number]).codec
      try {
        args.push(codec.fromJson(given[i], this.#deps.json))
      } catch (cause) {
        if (!(cause instanceof PetrelError)) throw cause
        // Lotus' decoder takes it; its handler finds nothing there.
        if (cause.code === 'UNDEFINED_CID') throw new RpcError('FAILED', cause.message, { cause })
        const text = `unmarshaling params for '${request.method}' (param: ${goType(codec)}): ${cause.message}`
        throw new RpcError('PARSE_ERROR', text, { cause })
      }
    }
    return args
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
