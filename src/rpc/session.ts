/**
 * JSON-RPC over one WebSocket connection: requests, channels, cancellation.
 * Channels: the answer to the request is the channel's number; then `xrpc.ch.val [number, value]` for each value and
 * `xrpc.ch.close [number]` at the end. `xrpc.cancel [id of the request]` ends a channel or aborts a running request.
 *
 * A client that does not read is not read from: nothing is held for it beyond the bounds. The permissions are asked for
 * with each frame, so a token that is revoked or expires takes its connection with it.
 * @see go-jsonrpc websocket.go handleChanOut, cancelCtx
 */
import {
  HOLD_UNREAD_BYTES,
  MAX_ANONYMOUS_VALUES,
  MAX_CHANNELS,
  MAX_RUNNING_REQUESTS,
  MAX_UNREAD_BYTES,
  VALUE_BYTES,
} from '../base/bounds.ts'
import { fromUtf8 } from '../base/bytes.ts'
import { BaseError, errorMessage, unlessThrown } from '../base/errors.ts'
import type { Steps } from '../base/steps.ts'
import type { Json } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import type { CallerName } from './cost.ts'
import type { Caller, OpenChannel, RpcEngine } from './engine.ts'
import { RpcError } from './errors.ts'
import { Held, type Room } from './held.ts'
import type { ApiVersion } from './method.ts'
import type { Outcome, StreamedOutcome } from './outcome.ts'
import { type FrameSink, Outgoing } from './outgoing.ts'
import { parseFrame, type RequestId, type RpcRequest, requestValues } from './request.ts'
import { failureText, notificationText, successText } from './response.ts'

/** What a session is made of. */
export interface SessionDeps {
  readonly engine: RpcEngine
  readonly version: ApiVersion
  /** What the client may do now; undefined: its token is void. */
  readonly permissions: () => ReadonlySet<string> | undefined
  readonly sink: FrameSink
  /** Whose share its calls count in. Default: a share of its own. */
  readonly name?: CallerName
  /** Where frames count until their requests are answered. Absent: nobody counts. */
  readonly room?: Room
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

/** A request under way, with its channel where it opened one. */
interface Running {
  readonly key: string
  readonly controller: AbortController
  /** What its frame is counted for. */
  readonly held: Held | undefined
  channel?: Channel
}

const CANCEL = 'xrpc.cancel'
const VOID_TOKEN = 'the token is not valid any more'
/** Made once: of a connection with thousands of calls each would look for its own stack. */
const GONE = new RpcError('CANCELLED', 'the caller has gone')

let sessions = 0

function idKey(id: RequestId): string {
  return `${typeof id}:${String(id)}`
}

/** One connection. Feed it frames; call {@link RpcSession.end} when the connection is gone. */
export class RpcSession {
  readonly #deps: SessionDeps
  readonly #outgoing: Outgoing
  /** By the id of the request. A client may use an id again while the first is under way: then it names both. */
  readonly #running = new Map<string, Set<Running>>()
  #runningCount = 0
  #channelCount = 0
  readonly #connection = new AbortController()
  readonly #ownName: CallerName = { name: `session ${++sessions}`, hasToken: true }
  /** Frames that were read and not taken yet. */
  readonly #frames: (string | Uint8Array)[] = []
  /** Whether they are being taken, now or in turns. */
  #isTaking = false
  /** Whether they wait for the client to read its answers. */
  #isHeld = false
  /** Whether the client is read from no further. */
  #isStopped = false
  #nextChannel = 1
  #ended = false

  constructor(deps: SessionDeps) {
    this.#deps = deps
    this.#outgoing = new Outgoing(deps.sink, () => this.end())
  }

  /** Takes one frame, text or binary. */
  receive(frame: string | Uint8Array): void {
    if (this.#ended) return
    this.#frames.push(frame)
    this.#takeFrames()
  }

  /** Some of what was sent has left: frames that waited for that are taken. */
  drained(): void {
    if (!this.#isHeld || this.#outgoing.unreadBytes > HOLD_UNREAD_BYTES / 2) return
    this.#isHeld = false
    this.#takeFrames()
  }

  /** What waits is taken, in turns with others: thousands of short frames come in one piece. */
  #takeFrames(): void {
    if (this.#isHeld || this.#isTaking) return
    this.#isTaking = true
    const left = this.#deps.engine.takeFrames(this.#eachFrame())
    if (left === undefined) return this.#taken()
    this.#stop(true)
    left.then(
      () => this.#taken(),
      (error: unknown) => this.#close(errorMessage(error)),
    )
  }

  *#eachFrame(): Steps<void> {
    let at = 0
    while (!this.#isHeld && !this.#ended && at < this.#frames.length) {
      this.#take(this.#frames[at++] as string | Uint8Array)
      yield
    }
    // Together: of thousands each would move all that are left.
    this.#frames.splice(0, at)
  }

  #taken(): void {
    this.#isTaking = false
    if (this.#ended) return
    // One may have come, or the client have read, at the end of the last turn.
    if (!this.#isHeld && this.#frames.length > 0) this.#takeFrames()
    else this.#stop(this.#isHeld)
  }

  /** Stops reading from the client, or starts again. */
  #stop(isStopped: boolean): void {
    if (this.#isStopped === isStopped) return
    this.#isStopped = isStopped
    this.#deps.sink.hold?.(isStopped)
  }

  /** Ends the connection when the client's token is void. */
  checkToken(): void {
    if (this.#deps.permissions() === undefined) this.#close(VOID_TOKEN)
  }

  /** The connection is gone: aborts what runs, stops all channels, sends nothing more. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#outgoing.end()
    for (const set of this.#running.values()) {
      for (const { controller, channel, held } of set) {
        held?.free()
        if (channel !== undefined) {
          channel.at = 'closed'
          channel.stop()
        }
        controller.abort(GONE)
      }
    }
    this.#running.clear()
    this.#frames.length = 0
    this.#connection.abort(GONE)
  }

  #take(frame: string | Uint8Array): void {
    // A frame that is no text is dropped like any other that is no JSON.
    const text = typeof frame === 'string' ? frame : unlessThrown(() => fromUtf8(frame), BaseError)
    if (text === undefined) return
    const isAnonymous = this.#deps.name?.hasToken === false
    const values = isAnonymous ? unlessThrown(() => requestValues(text, MAX_ANONYMOUS_VALUES), RpcError) : 0
    if (values === undefined) return this.#close(`a frame has at most ${MAX_ANONYMOUS_VALUES} values`)
    const request = parseFrame(text)
    if (request === undefined) return
    const permissions = this.#deps.permissions()
    if (permissions === undefined) return this.#close(VOID_TOKEN)
    if (request.method === CANCEL) this.#cancel(request.params)
    else this.#start(request, permissions, text.length + values * VALUE_BYTES)
    const { sink } = this.#deps
    if (this.#ended || sink.hold === undefined || this.#outgoing.unreadBytes <= HOLD_UNREAD_BYTES) return
    this.#isHeld = true
  }

  #close(reason: string): void {
    if (this.#ended) return
    this.end()
    this.#deps.sink.close(reason)
  }

  /** @param bytes - what its frame is counted for */
  #start(request: RpcRequest, permissions: ReadonlySet<string>, bytes: number): void {
    const { room } = this.#deps
    const held = room === undefined ? undefined : new Held(room)
    const running: Running = { key: idKey(request.id), controller: new AbortController(), held }
    if (this.#runningCount >= MAX_RUNNING_REQUESTS) {
      return this.#refuse(request, `too many requests under way on this connection, at most ${MAX_RUNNING_REQUESTS}`)
    }
    if (held?.add(bytes) === false) {
      return this.#refuse(request, 'too much is held for the requests under way; try again later')
    }
    this.#add(running)
    const caller: Caller = {
      version: this.#deps.version,
      permissions,
      signal: running.controller.signal,
      ended: this.#connection.signal,
      notify: (method, params) => this.#notify(method, params),
      subscribed: () => this.#subscribed(),
      disconnect: (reason) => this.#close(reason),
      name: this.#name,
      held,
    }
    const finish = (outcome: Outcome | StreamedOutcome): void => {
      if (outcome.kind === 'streamed') return this.#outgoing.stream(request.id, outcome, () => this.#remove(running))
      if (running.channel === undefined) this.#remove(running)
      if (outcome.kind === 'silent' || request.id === null) return
      this.#outgoing.answer(outcome.text)
    }
    const openChannel: OpenChannel = (_request, start, valueText) =>
      this.#openChannel(request, running, start, valueText)
    const { engine, sink } = this.#deps
    const outcome =
      sink.parts === undefined
        ? engine.told(engine.dispatch(request, caller, openChannel))
        : engine.told(engine.dispatchStreaming(request, caller, openChannel))
    if (outcome instanceof Promise) void outcome.then(finish)
    else finish(outcome)
  }

  #openChannel(
    request: RpcRequest,
    running: Running,
    start: Parameters<OpenChannel>[1],
    valueText: Parameters<OpenChannel>[2],
  ): void {
    if (this.#channelCount >= MAX_CHANNELS) {
      return this.#refuse(request, `too many channels on this connection, at most ${MAX_CHANNELS}`)
    }
    const channel: Channel = { number: this.#nextChannel++, at: 'starting', early: [], stop: () => {} }
    const uncount = this.#subscribed()
    let stop: () => void
    try {
      stop = start({
        value: (value) => this.#value(running, channel, valueText(value)),
        close: () => this.#closeChannel(running, channel),
        unreadBytes: () => this.#outgoing.unreadEvents,
      })
    } catch (error) {
      uncount()
      throw error
    }
    channel.stop = () => {
      stop()
      uncount()
    }
    running.channel = channel
    this.#channelCount++
    this.#outgoing.event(successText(request.id, String(channel.number)))
    for (const text of channel.early.splice(0)) this.#outgoing.event(text)
    const closing = channel.at === 'closing'
    channel.at = 'open'
    if (closing) this.#closeChannel(running, channel)
  }

  get #name(): CallerName {
    return this.#deps.name ?? this.#ownName
  }

  /** @throws RpcError `LIMIT_EXCEEDED` */
  #subscribed(): () => void {
    return this.#deps.engine.subscriptions.open(this.#name)
  }

  #value(running: Running, channel: Channel, valueText: string): void {
    const text = notificationText('xrpc.ch.val', `[${channel.number},${valueText}]`)
    if (channel.at === 'starting') channel.early.push(text)
    if (channel.at !== 'open') return
    if (this.#deps.permissions() === undefined) this.#close(VOID_TOKEN)
    // A client that does not read must not make the node hold everything for it.
    else if (this.#isUnread) this.#closeChannel(running, channel)
    else this.#outgoing.event(text)
  }

  /** A call of the client: it has no channel that could be ended, so the connection is. */
  #notify(method: string, params: Json): void {
    if (this.#ended) return
    if (this.#deps.permissions() === undefined) this.#close(VOID_TOKEN)
    else if (this.#isUnread) this.#close('the client does not read what it has subscribed to')
    else this.#outgoing.event(notificationText(method, stringifyJson(params)))
  }

  get #isUnread(): boolean {
    return this.#outgoing.unreadEvents > MAX_UNREAD_BYTES
  }

  /** starting -> closing, open -> closed */
  #closeChannel(running: Running, channel: Channel): void {
    if (channel.at === 'starting') channel.at = 'closing'
    if (channel.at !== 'open') return
    channel.at = 'closed'
    channel.stop()
    this.#channelCount--
    this.#remove(running)
    this.#outgoing.event(notificationText('xrpc.ch.close', `[${channel.number}]`))
  }

  #cancel(params: Json | undefined): void {
    const id = Array.isArray(params) ? params[0] : undefined
    if (typeof id !== 'string' && typeof id !== 'number') return
    for (const running of [...(this.#running.get(idKey(id)) ?? [])]) {
      if (running.channel !== undefined) this.#closeChannel(running, running.channel)
      this.#remove(running)
      running.controller.abort()
    }
  }

  #add(running: Running): void {
    const same = this.#running.get(running.key)
    if (same === undefined) this.#running.set(running.key, new Set([running]))
    else same.add(running)
    this.#runningCount++
  }

  #remove(running: Running): void {
    const same = this.#running.get(running.key)
    if (same?.delete(running) !== true) return
    running.held?.free()
    this.#runningCount--
    if (same.size === 0) this.#running.delete(running.key)
  }

  #refuse(request: RpcRequest, reason: string): void {
    if (request.id !== null) this.#outgoing.event(failureText(request.id, new RpcError('FAILED', reason)))
  }
}
