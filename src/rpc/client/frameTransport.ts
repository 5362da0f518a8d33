/**
 * Calls and channels over a connection that carries text frames both ways: a WebSocket, a message port. The other side
 * is `RpcSession`.
 * @see ../session.ts for the protocol of channels
 */
import { PetrelError, unlessThrown } from '../../base/errors.ts'
import { whenAborted } from '../../base/waiting.ts'
import { type Json, stringifyJson } from '../../codec/jsonText.ts'
import { RpcClientError } from './errors.ts'
import { type JsonObject, parseObject, resultOf } from './response.ts'
import type { ChannelListener, RpcTransport } from './transport.ts'

/** An open connection. */
export interface FrameLink {
  send(text: string): void
  close(): void
}

/** What a connection tells. */
export interface FrameListener {
  frame(text: string): void
  /** It is gone; nothing follows. */
  closed(reason: string): void
}

/** A call that waits. For a channel `opened` runs at once: values may stand in the same batch of frames as the answer. */
interface Waiting {
  resolve(result: Json): void
  reject(error: unknown): void
}

/** One connection: its calls under way, and its channels. */
export class FrameTransport implements RpcTransport {
  readonly #link: FrameLink
  readonly #waiting = new Map<number, Waiting>()
  /** By number; `undefined` while it has no listener. */
  readonly #channels = new Map<number, ChannelListener<Json>>()
  #nextId = 1
  #closed: RpcClientError | undefined

  /** @param open - connects the listener and gives the sending side; frames may come from then on */
  constructor(open: (listener: FrameListener) => FrameLink) {
    this.#link = open({
      frame: (text) => this.#frame(text),
      closed: (reason) => this.#end(reason),
    })
  }

  request(method: string, params: Json, signal?: AbortSignal): Promise<Json> {
    return this.#call(method, params, signal, (result) => result)
  }

  async subscribe(method: string, params: Json, listener: ChannelListener<Json>): Promise<() => void> {
    let id = 0
    // The listener is registered while the answer is read, before any further frame.
    const number = await this.#call(
      method,
      params,
      undefined,
      (result) => {
        const channel = Number(result)
        this.#channels.set(channel, listener)
        return channel
      },
      (used) => {
        id = used
      },
    )
    return () => {
      if (!this.#channels.delete(number) || this.#closed !== undefined) return
      this.#link.send(stringifyJson({ jsonrpc: '2.0', method: 'xrpc.cancel', params: [id] }))
    }
  }

  close(): void {
    if (this.#closed !== undefined) return
    this.#end('closed by this side')
    this.#link.close()
  }

  #call<T>(
    method: string,
    params: Json,
    signal: AbortSignal | undefined,
    take: (result: Json) => T,
    withId: (id: number) => void = () => undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) {
        reject(this.#closed)
        return
      }
      const id = this.#nextId++
      withId(id)
      const stop = whenAborted(signal, () => {
        if (!this.#waiting.delete(id)) return
        this.#link.send(stringifyJson({ jsonrpc: '2.0', method: 'xrpc.cancel', params: [id] }))
        reject(new RpcClientError('CLOSED', 'the call was given up'))
      })
      this.#waiting.set(id, {
        resolve: (result) => {
          stop()
          resolve(take(result))
        },
        reject: (error: unknown) => {
          stop()
          reject(error as RpcClientError)
        },
      })
      try {
        this.#link.send(stringifyJson({ jsonrpc: '2.0', id, method, params }))
      } catch (cause) {
        this.#waiting.delete(id)
        reject(new RpcClientError('UNREACHABLE', 'could not send to the node', {}, { cause }))
      }
    })
  }

  #frame(text: string): void {
    if (this.#closed !== undefined) return
    // Whatever waits for it is told when the connection ends; a frame that is no JSON answers nobody.
    const frame = unlessThrown(() => parseObject(text), PetrelError)
    if (frame === undefined) return
    if (frame.method === 'xrpc.ch.val') this.#value(frame.params)
    else if (frame.method === 'xrpc.ch.close') this.#channelEnd(frame.params)
    else this.#answer(frame)
  }

  #answer(frame: JsonObject): void {
    const id = Number(frame.id)
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    try {
      waiting.resolve(resultOf(frame))
    } catch (error) {
      waiting.reject(error)
    }
  }

  #value(params: Json | undefined): void {
    if (!Array.isArray(params) || params.length !== 2) return
    this.#channels.get(Number(params[0]))?.value(params[1] as Json)
  }

  #channelEnd(params: Json | undefined): void {
    const number = Array.isArray(params) ? Number(params[0]) : Number.NaN
    const listener = this.#channels.get(number)
    this.#channels.delete(number)
    listener?.end?.()
  }

  #end(reason: string): void {
    if (this.#closed !== undefined) return
    const error = new RpcClientError('CLOSED', `the connection to the node ended: ${reason}`)
    this.#closed = error
    const waiting = [...this.#waiting.values()]
    const channels = [...this.#channels.values()]
    this.#waiting.clear()
    this.#channels.clear()
    for (const waiter of waiting) waiter.reject(error)
    for (const channel of channels) channel.end?.()
  }
}
