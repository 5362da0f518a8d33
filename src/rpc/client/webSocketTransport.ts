/** Calls and channels over a WebSocket. */
import { RpcClientError } from './errors.ts'
import { FrameTransport } from './frameTransport.ts'

/** The part of `WebSocket` that is needed. Every runtime has its own classes of events, hence `never`. */
export interface WebSocketLike {
  send(text: string): void
  close(): void
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
}

interface Closing {
  readonly code: number
  readonly reason: string
}

/**
 * Connects.
 * @param create - `() => new WebSocket('ws://host:port/rpc/v1')`
 * @param onClosed - the open connection ended
 * @throws RpcClientError `UNREACHABLE`
 */
export function openWebSocket(create: () => WebSocketLike, onClosed?: () => void): Promise<FrameTransport> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      reject(new RpcClientError('UNREACHABLE', 'could not connect to the node', {}, { cause }))
    }
    let socket: WebSocketLike
    try {
      socket = create()
    } catch (cause) {
      fail(cause)
      return
    }
    socket.onclose = ({ code }: Closing) => fail(new RpcClientError('CLOSED', `the connection ended with code ${code}`))
    socket.onerror = null
    socket.onopen = () => {
      const transport = new FrameTransport((listener) => {
        socket.onmessage = ({ data }: { readonly data: unknown }) => {
          if (typeof data === 'string') listener.frame(data)
        }
        socket.onclose = ({ code, reason }: Closing) => {
          listener.closed(reason === '' ? `code ${code}` : reason)
          onClosed?.()
        }
        return { send: (text) => socket.send(text), close: () => socket.close() }
      })
      resolve(transport)
    }
  })
}
