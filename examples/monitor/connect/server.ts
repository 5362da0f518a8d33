/** A node at the other end of a WebSocket. */
import { createClient } from '../../../src/rpc/client/client.ts'
import { openWebSocket } from '../../../src/rpc/client/webSocketTransport.ts'
import type { Connection } from '../model/connection.ts'
import { SERVER_TRUST } from '../model/evidence.ts'
import { MONITOR_METHODS } from '../model/methods.ts'

/** @throws RpcClientError `UNREACHABLE` */
export async function connectServer(url: string, onClosed: () => void): Promise<Connection> {
  const transport = await openWebSocket(() => new WebSocket(url), onClosed)
  return { node: createClient(transport, MONITOR_METHODS), trust: SERVER_TRUST, close: () => transport.close() }
}
