/** How calls reach a node: HTTP, WebSocket, the message port of a worker. Shims implement this and decide nothing. */
import type { Json } from '../../codec/jsonText.ts'

/** Where the values of a channel go. */
export interface ChannelListener<T> {
  value(value: T): void
  /**
   * The channel is over: by the node, because the connection ended, or (`error`) because a value could not be read. Not
   * called after the subscriber's own stop.
   */
  end?(error?: unknown): void
}

/** Carries calls. Names are full: `Filecoin.ChainHead`. */
export interface RpcTransport {
  /**
   * @returns the result
   * @throws RpcClientError `UNREACHABLE`, `CLOSED`, `UNAUTHORIZED`, `BAD_ANSWER`, `REMOTE`
   */
  request(method: string, params: Json, signal?: AbortSignal): Promise<Json>
  /**
   * Opens a channel. Values may come before this resolves.
   * @returns what stops it
   * @throws RpcClientError as {@link RpcTransport.request}; `NOT_SUPPORTED` where only single calls can be carried
   */
  subscribe(method: string, params: Json, listener: ChannelListener<Json>): Promise<() => void>
  /** Ends it; whatever waits fails with `CLOSED`. */
  close(): void
}
