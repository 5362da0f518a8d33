/**
 * The chunks of `ChainExport` over a WebSocket. What arrives is held back at the socket while the caller is busy.
 * @see go-jsonrpc websocket.go; lotus node/impl/full/chain.go ChainExport
 */
import { WebSocket } from 'ws'
import { whenAborted } from '../../src/base/waiting.ts'
import { CliError } from './errors.ts'
import type { Endpoint } from './rpcClient.ts'

/** Largest frame that is read: a chunk of 1 MiB as base64, and room. */
const MAX_FRAME = 8 << 20
const REQUEST_ID = 1
const INCOMPLETE =
  'incomplete export: the node could not go on; its log says why (one that does not execute lacks most of the state)'

interface Frame {
  readonly id?: number
  readonly result?: number
  readonly error?: { readonly message: string }
  readonly method?: string
  readonly params?: readonly [number, string | null]
}

/** What is asked for. */
export interface ExportRequest {
  readonly recentStateRoots: number
  readonly skipOldMessages: boolean
  readonly tipset: readonly { readonly '/': string }[]
}

/**
 * Gives each chunk to `take`, in order.
 * @throws CliError `CONNECTION`, `RPC` with the node's text; `FAILED` when the export is incomplete
 */
export function streamExport(
  endpoint: Endpoint,
  request: ExportRequest,
  take: (chunk: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  const headers: Record<string, string> =
    endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` }
  const socket = new WebSocket(`${endpoint.url.replace(/^http/, 'ws')}/rpc/v1`, { headers, maxPayload: MAX_FRAME })
  const params = [request.recentStateRoots, request.skipOldMessages, request.tipset]
  return new Promise<void>((resolve, reject) => {
    let isComplete = false
    let stopListening = (): void => undefined
    const finish = (error?: unknown): void => {
      stopListening()
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.terminate()
      if (error === undefined) resolve()
      else reject(error as Error)
    }
    stopListening = whenAborted(signal, () => finish(signal.reason))
    socket.on('open', () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: REQUEST_ID, method: 'Filecoin.ChainExport', params })),
    )
    socket.on('error', (cause) =>
      finish(new CliError('CONNECTION', `could not connect to the node at ${endpoint.url}`, {}, { cause })),
    )
    socket.on('close', () => finish(new CliError('CONNECTION', 'incomplete export (remote connection lost?)')))
    socket.on('message', (data: Buffer) => {
      try {
        const frame = JSON.parse(data.toString('utf8')) as Frame
        if (frame.error !== undefined) throw new CliError('RPC', frame.error.message)
        if (frame.method === 'xrpc.ch.val') {
          const chunk = Buffer.from(frame.params?.[1] ?? '', 'base64')
          // Only the last one is empty.
          isComplete = chunk.length === 0
          take(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length))
        } else if (frame.method === 'xrpc.ch.close') {
          finish(isComplete ? undefined : new CliError('FAILED', INCOMPLETE))
        }
      } catch (error) {
        finish(error)
      }
    })
  })
}
