/**
 * The chain's transfers as Server-Sent Events: `GET /transfers?since=<position>&confidence=<epochs>`. Each event is one answer of
 * `ChainGetTransfersSince`, its `id` the position that it leads to: a client that lost its connection (any `EventSource`) comes
 * again with `Last-Event-ID` and misses nothing, nor hears anything twice.
 *
 *   waiting --head changed--> asking --the position moved--> telling --the client has taken it--> asking
 *      |                         |
 *      +--- nothing for a while: a comment; the token is void, the client gone, the node stopping, an error: the end
 *
 * Every question goes through the method's row, so permission, fairness between callers and missing blocks are the same as there.
 * Nothing is read ahead of the client.
 * @see WHATWG HTML, "Server-sent events"
 */
import { EVENT_TIPSETS, MAX_CALLER_EVENT_STREAMS, MAX_EVENT_STREAMS, PING_INTERVAL_MS } from '../base/bounds.ts'
import type { Timers } from '../base/ports.ts'
import { whenAborted } from '../base/waiting.ts'
import type { Json } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { parseJson, stringifyJson } from '../codec/jsonText.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { TransferError } from '../transfers/errors.ts'
import { type CallerName, RETRY_AFTER_SEC } from './cost.ts'
import type { RpcEngine } from './engine.ts'
import { RPC_ERROR_NUMBERS } from './errors.ts'
import type { HttpRequest, HttpResponse } from './httpMessage.ts'

/** What the events are made of. */
export interface TransferEventsDeps {
  readonly engine: RpcEngine
  readonly timers: Timers
  /** @returns what ends the subscription */
  readonly onHeadChange: (listener: () => void) => () => void
  /** Aborted when the node stops: every stream ends. */
  readonly stopping: AbortSignal
}

/** Who listens. */
export interface EventCaller {
  readonly name: CallerName
  /** What it may do now; undefined: its token is void. */
  readonly permissions: () => ReadonlySet<string> | undefined
}

/** A position as its text: CIDs of a tipset with commas, as `petrel transfers` writes them. */
type Position = readonly string[]

interface Steps {
  readonly position: Position
  readonly text: string
}

type Asked = { readonly steps: Steps } | { readonly refusal: HttpResponse }

/** Epochs on top of a tipset before it counts: final by Filecoin's rule. */
const DEFAULT_CONFIDENCE = 900
const RETRY_MS = 1000
const METHOD = 'Filecoin.ChainGetTransfersSince'

const EVENT_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // nginx holds answers back otherwise.
  'X-Accel-Buffering': 'no',
}

/** Not now: an `EventSource` gives up at any other status, and comes again after an end. The reason is for who reads it by hand. */
function later(reason: string): HttpResponse {
  return { status: 200, headers: EVENT_HEADERS, body: `: ${reason.replace(/\s+/g, ' ')}\nretry: 5000\n\n` }
}

function refused(status: number, reason: string): HttpResponse {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
  return {
    status,
    headers: status === 429 ? { ...headers, 'Retry-After': String(RETRY_AFTER_SEC) } : headers,
    body: `${reason}\n`,
  }
}

/** Value of a query's field; undefined: none. @throws URIError */
function field(url: string, name: string): string | undefined {
  const start = url.indexOf('?')
  if (start < 0) return undefined
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair.startsWith(`${name}=`)) return decodeURIComponent(pair.slice(name.length + 1))
  }
  return undefined
}

/** Where a request wants to begin. `Last-Event-ID` is what a client that comes again knows, so it goes first. */
function beginning(request: HttpRequest): { position: Position; confidence: number } | undefined {
  try {
    const since = request.header('last-event-id') || field(request.url, 'since') || ''
    const confidence = field(request.url, 'confidence') ?? String(DEFAULT_CONFIDENCE)
    if (!/^\d{1,9}$/.test(confidence)) return undefined
    return { position: since === '' ? [] : since.split(',').map((cid) => cid.trim()), confidence: Number(confidence) }
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** Whether a failure is the question's: its confidence, or a position that is no tipset or that the chain does not know. */
function isOfQuestion(error: unknown, position: Position): boolean {
  if (error instanceof TransferError) return error.code === 'CURSOR_UNKNOWN' || error.code === 'INVALID_CONFIDENCE'
  if (error instanceof BlockMissing) return error.cids.some((cid) => position.includes(cid.toString()))
  return error instanceof CodecError
}

const isSame = (a: Position, b: Position): boolean => a.join() === b.join()

/** The streams that are open, bounded for each caller and altogether. */
export class TransferEvents {
  readonly #deps: TransferEventsDeps
  /** By caller. */
  readonly #streams = new Map<string, number>()
  #count = 0

  constructor(deps: TransferEventsDeps) {
    this.#deps = deps
  }

  /** Streams that are open. */
  get size(): number {
    return this.#count
  }

  /**
   * Opens a stream.
   * @returns 400: a position or confidence that is none, or that the chain does not know; 403: no permission; 405: no GET; 429: too
   *   many streams; else 200, and the events as `rest`: none where the node cannot answer just now
   */
  async open(request: HttpRequest, caller: EventCaller): Promise<HttpResponse> {
    if (request.verb !== 'GET') return refused(405, 'events are read with GET')
    if (caller.permissions()?.has('read') !== true)
      return refused(403, "missing permission to read events (need 'read')")
    const from = beginning(request)
    if (from === undefined) return refused(400, 'since: CIDs of a tipset with commas; confidence: epochs')
    const { stopping } = this.#deps
    if (stopping.aborted) return later('the node stops')
    const key = caller.name.name
    const mine = this.#streams.get(key) ?? 0
    if (mine >= MAX_CALLER_EVENT_STREAMS) {
      return refused(429, `too many streams of one caller, at most ${MAX_CALLER_EVENT_STREAMS}`)
    }
    if (this.#count >= MAX_EVENT_STREAMS) return refused(429, `too many streams, at most ${MAX_EVENT_STREAMS}`)
    this.#count++
    this.#streams.set(key, mine + 1)
    const { signal: gone } = request
    const ended = new AbortController()
    const close = (): void => ended.abort()
    const listening = [whenAborted(gone, close), whenAborted(stopping, close)]
    whenAborted(ended.signal, () => {
      for (const stop of listening) stop()
      this.#leave(key)
    })
    // The first answer is waited for: a position that nobody knows has a status of its own.
    const first = await this.#ask(from.position, from.confidence, caller, ended.signal)
    if ('refusal' in first) {
      close()
      return first.refusal
    }
    const rest = this.#events(first.steps, from.confidence, caller, ended.signal, close)
    return { status: 200, headers: EVENT_HEADERS, body: `retry: ${RETRY_MS}\n\n`, rest }
  }

  #leave(key: string): void {
    this.#count--
    const left = (this.#streams.get(key) ?? 1) - 1
    if (left === 0) this.#streams.delete(key)
    else this.#streams.set(key, left)
  }

  async *#events(
    first: Steps,
    confidence: number,
    caller: EventCaller,
    ended: AbortSignal,
    close: () => void,
  ): AsyncGenerator<string, void, undefined> {
    let wake = (): void => undefined
    let isChanged = true
    const change = (): void => {
      isChanged = true
      wake()
    }
    const unsubscribe = this.#deps.onHeadChange(change)
    whenAborted(ended, change)
    try {
      let { position } = first
      yield eventOf(first)
      while (!ended.aborted && caller.permissions() !== undefined) {
        if (!isChanged) {
          const woken = new Promise<void>((resolve) => (wake = resolve))
          const cancel = this.#deps.timers.setTimeout(wake, PING_INTERVAL_MS)
          await woken
          cancel()
          if (!isChanged) yield ': nothing new\n\n'
          continue
        }
        isChanged = false
        const asked = await this.#ask(position, confidence, caller, ended)
        // It comes again, and hears why.
        if ('refusal' in asked) return
        if (isSame(asked.steps.position, position)) continue
        position = asked.steps.position
        yield eventOf(asked.steps)
        isChanged = true
      }
    } finally {
      unsubscribe()
      close()
    }
  }

  async #ask(position: Position, confidence: number, caller: EventCaller, signal: AbortSignal): Promise<Asked> {
    const permissions = caller.permissions()
    if (permissions === undefined) return { refusal: refused(401, 'the token is not valid any more') }
    const params: Json = [position.map((cid) => ({ '/': cid })), confidence, EVENT_TIPSETS]
    const outcome = await this.#deps.engine.dispatch(
      { id: 1, method: METHOD, params },
      { version: 'v1', permissions, signal, ended: signal, notify: undefined, name: caller.name },
      undefined,
    )
    if (outcome.kind === 'silent' || signal.aborted) return { refusal: later('ended') }
    const answer = parseJson(outcome.text) as { result: Json } | { error: { code: number; message: string } }
    if ('error' in answer) {
      const { code, message } = answer.error
      const isVain =
        outcome.kind === 'refused'
          ? code !== RPC_ERROR_NUMBERS.PANIC
          : outcome.kind === 'answered' && isOfQuestion(outcome.error, position)
      return { refusal: isVain ? refused(400, message) : later(message) }
    }
    const { Position: next } = answer.result as { Position: { '/': string }[] }
    return { steps: { position: next.map((cid) => cid['/']), text: stringifyJson(answer.result) } }
  }
}

/** JSON as Lotus prints it has no line breaks. */
function eventOf({ position, text }: Steps): string {
  return `id: ${position.join()}\ndata: ${text}\n\n`
}
