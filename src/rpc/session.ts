/**
 * JSON-RPC over one WebSocket connection: requests, channels, cancellation.
 * Channels: the answer to the request is the channel's number; then `xrpc.ch.val [number, value]` for each value and
 * `xrpc.ch.close [number]` at the end. `xrpc.cancel [id of the request]` ends a channel or aborts a running request.
 * @see go-jsonrpc websocket.go handleChanOut, cancelCtx
 */
import { fromUtf8 } from '../base/bytes.ts'
import type { Json } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import type { OpenChannel, Outcome, RpcEngine } from './engine.ts'
import { MAX_UNREAD_BYTES } from './limits.ts'
import type { ApiVersion } from './method.ts'
import { parseFrame, type RequestId, type RpcRequest } from './request.ts'
import { notificationText, successText } from './response.ts'

/** The sending side of a connection. */
export interface FrameSink {
  /** Sends one text frame. */
  send(text: string): void
  /** Bytes that were sent but have not left yet. */
  unreadBytes(): number
}

/** What a session is made of. */
export interface SessionDeps {
  readonly engine: RpcEngine
  readonly version: ApiVersion
  readonly permissions: ReadonlySet<string>
  readonly sink: FrameSink
}

/**
 * A channel. `starting`: values are held back until the client knows the number; `closing`: it was closed while it
 * started, and ends as soon as the client has the number.
 */
interface Channel {
  readonly number: number
  at: 'starting' | 'closing' | 'open' | 'closed'
  readonly early: string[]
  stop: () => void
}

const CANCEL = 'xrpc.cancel'

function idKey(id: RequestId): string {
  return `${typeof id}:${String(id)}`
}

/** One connection. Feed it frames; call {@link RpcSession.end} when the connection is gone. */
export class RpcSession {
  readonly #deps: SessionDeps
  /** Running requests and open channels by the id of their request. */
  readonly #running = new Map<string, AbortController>()
  readonly #channels = new Map<string, Channel>()
  readonly #connection = new AbortController()
  #nextChannel = 1
  #ended = false

  constructor(deps: SessionDeps) {
    this.#deps = deps
  }

  /** Takes one frame, text or binary. */
  receive(frame: string | Uint8Array): void {
    if (this.#ended) return
    let text: string
    try {
      text = typeof frame === 'string' ? frame : fromUtf8(frame)
    } catch {
      // A frame that is no text is dropped like any other that is no JSON.
      return
    }
    const request = parseFrame(text)
    if (request === undefined) return
    if (request.method === CANCEL) this.#cancel(request.params)
    else this.#start(request)
  }

  /** The connection is gone: aborts what runs, stops all channels, sends nothing more. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    for (const channel of this.#channels.values()) {
      channel.at = 'closed'
      channel.stop()
    }
    this.#channels.clear()
    for (const controller of this.#running.values()) controller.abort()
    this.#running.clear()
    this.#connection.abort()
  }

  #start(request: RpcRequest): void {
    const key = idKey(request.id)
    const controller = new AbortController()
    if (request.id !== null) this.#running.set(key, controller)
    const caller = {
      version: this.#deps.version,
      permissions: this.#deps.permissions,
      signal: controller.signal,
      ended: this.#connection.signal,
      notify: (method: string, params: Json): void => this.#send(notificationText(method, stringifyJson(params))),
    }
    const finish = (outcome: Outcome): void => {
      if (this.#running.get(key) === controller && !this.#channels.has(key)) this.#running.delete(key)
      if (outcome.kind === 'silent' || request.id === null) return
      this.#send(outcome.text)
    }
    const outcome = this.#deps.engine.dispatch(request, caller, this.#openChannel)
    if (outcome instanceof Promise) void outcome.then(finish)
    else finish(outcome)
  }

  readonly #openChannel: OpenChannel = (request, start, valueText) => {
    const channel: Channel = { number: this.#nextChannel++, at: 'starting', early: [], stop: () => {} }
    const key = idKey(request.id)
    channel.stop = start({
      value: (value) => this.#value(key, channel, valueText(value)),
      close: () => this.#close(key, channel),
      unreadBytes: () => this.#deps.sink.unreadBytes(),
    })
    this.#channels.set(key, channel)
    this.#send(successText(request.id, String(channel.number)))
    for (const text of channel.early.splice(0)) this.#send(text)
    const closing = channel.at === 'closing'
    channel.at = 'open'
    if (closing) this.#close(key, channel)
  }

  #value(key: string, channel: Channel, valueText: string): void {
    const text = notificationText('xrpc.ch.val', `[${channel.number},${valueText}]`)
    if (channel.at === 'starting') channel.early.push(text)
    if (channel.at !== 'open') return
    // A client that does not read must not make the node hold everything for it.
    if (this.#deps.sink.unreadBytes() > MAX_UNREAD_BYTES) this.#close(key, channel)
    else this.#send(text)
  }

  /** starting -> closing, open -> closed */
  #close(key: string, channel: Channel): void {
    if (channel.at === 'starting') channel.at = 'closing'
    if (channel.at !== 'open') return
    channel.at = 'closed'
    channel.stop()
    this.#channels.delete(key)
    this.#running.delete(key)
    this.#send(notificationText('xrpc.ch.close', `[${channel.number}]`))
  }

  #cancel(params: Json | undefined): void {
    const id = Array.isArray(params) ? params[0] : undefined
    if (typeof id !== 'string' && typeof id !== 'number') return
    const key = idKey(id)
    const channel = this.#channels.get(key)
    if (channel !== undefined) this.#close(key, channel)
    const controller = this.#running.get(key)
    this.#running.delete(key)
    controller?.abort()
  }

  #send(text: string): void {
    if (!this.#ended) this.#deps.sink.send(text)
  }
}
