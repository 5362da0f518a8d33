/** The node in this tab. */
import { RpcClientError } from '../../../src/rpc/client/errors.ts'
import type { Connection } from '../model/connection.ts'
import type { Target } from './target.ts'

/** @throws RpcClientError `NOT_SUPPORTED` */
export function connectTab(_target: Exclude<Target, { kind: 'server' }>, _onClosed: () => void): Promise<Connection> {
  return Promise.reject(new RpcClientError('NOT_SUPPORTED', 'not supported: a node in the tab'))
}
