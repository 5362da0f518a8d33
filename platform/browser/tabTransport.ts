/** JSON-RPC over a message port: to the node of this page's worker, or through a page to the node of its worker. */
import type { Json } from '../../src/codec/jsonText.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { type FrameListener, FrameTransport } from '../../src/rpc/client/frameTransport.ts'
import type { ChannelListener, RpcTransport } from '../../src/rpc/client/transport.ts'
import type { FramePort, PortSignal } from './framePort.ts'

/** A channel that outlives the node that answers. */
interface Subscription {
  readonly method: string
  readonly params: Json
  readonly listener: ChannelListener<Json>
  stop: (() => void) | undefined
  /** Given up by this side; it may be opening still. */
  isOver: boolean
}

/** What a port tells besides answers. */
export interface PortEvents {
  /** A call of the node that belongs to no channel: `eth_subscription`. */
  notification?(method: string, params: Json): void
  /** Another tab's node answers from now on. Channels are open again; subscriptions made by calls are gone. */
  changed?(): void
}

/**
 * A transport over a port. When another tab takes the node over, calls under way fail with RpcClientError `CLOSED` (they may
 * or may not have been carried out) and channels are opened anew.
 */
export class TabTransport implements RpcTransport {
  readonly #port: FramePort
  readonly #events: PortEvents
  readonly #subscriptions = new Set<Subscription>()
  #frames: FrameTransport
  #listener: FrameListener | undefined
  #closed = false

  constructor(port: FramePort, events: PortEvents = {}) {
    this.#port = port
    this.#events = events
    this.#frames = this.#connect()
    port.onmessage = ({ data }: { readonly data: string | PortSignal }) => {
      if (typeof data === 'string') this.#received(data)
      else if ('changed' in data) this.#changed()
      else if ('refused' in data) this.#end(data.refused)
    }
    port.addEventListener('close', () => this.#end('the other side is gone'))
    port.start()
  }

  request(method: string, params: Json, signal?: AbortSignal): Promise<Json> {
    return this.#frames.request(method, params, signal)
  }

  async subscribe(method: string, params: Json, listener: ChannelListener<Json>): Promise<() => void> {
    const subscription: Subscription = { method, params, listener, stop: undefined, isOver: false }
    await this.#open(subscription)
    this.#subscriptions.add(subscription)
    return () => {
      subscription.isOver = true
      this.#subscriptions.delete(subscription)
      subscription.stop?.()
    }
  }

  close(): void {
    if (this.#closed) return
    this.#post({ close: true })
    this.#end('closed by this side')
    this.#port.close()
  }

  #connect(): FrameTransport {
    return new FrameTransport((listener) => {
      this.#listener = listener
      return { send: (text) => this.#port.postMessage(text), close: () => undefined }
    })
  }

  #received(text: string): void {
    this.#post({ read: text.length })
    // Answers are the many: only a frame that says `method` is looked at twice.
    if (this.#events.notification !== undefined && text.includes('"method":"eth_')) {
      const frame = parseJson(text)
      if (typeof frame === 'object' && frame !== null && !Array.isArray(frame) && typeof frame.method === 'string') {
        this.#events.notification(frame.method, frame.params ?? null)
        return
      }
    }
    this.#listener?.frame(text)
  }

  async #open(subscription: Subscription): Promise<void> {
    const { method, params, listener } = subscription
    const frames = this.#frames
    const stop = await frames.subscribe(method, params, {
      value: (value) => {
        if (!subscription.isOver) listener.value(value)
      },
      // An end by the node, not by its change.
      end: (error) => {
        if (frames === this.#frames && this.#subscriptions.delete(subscription)) listener.end?.(error)
      },
    })
    if (subscription.isOver) stop()
    else subscription.stop = stop
  }

  #changed(): void {
    const old = this.#listener
    const frames = this.#connect()
    this.#frames = frames
    this.#post({ ready: true })
    old?.closed('another tab runs the node now; ask again')
    for (const subscription of this.#subscriptions) {
      subscription.stop = undefined
      this.#open(subscription).catch((error: unknown) => {
        // Of a node that is gone again: the next one has been asked for the channel too.
        if (frames === this.#frames && this.#subscriptions.delete(subscription)) subscription.listener.end?.(error)
      })
    }
    this.#events.changed?.()
  }

  #end(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#listener?.closed(reason)
  }

  #post(signal: PortSignal): void {
    this.#port.postMessage(signal)
  }
}
