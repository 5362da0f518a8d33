/** What a runtime's JSON-RPC server takes and gives: one shape for Node and Deno. */
import type { Socket } from 'node:net'
import type { Logger } from '../../src/base/ports.ts'
import type { RpcEngine } from '../../src/rpc/engine.ts'
import type { HttpHandler } from '../../src/rpc/http.ts'
import type { SharedCounts } from './readers/sharedCounts.ts'
import type { TrustedProxies } from './trustedProxies.ts'

/** How long answers under way may take when the node stops, ms. */
export const CLOSE_GRACE_MS = 2000

/** Who hears what a server is asked. */
export interface ConnectionWatch {
  connected(socket: Socket): void
  /** @returns whether the connection is to end with the answer */
  asked(socket: Socket): boolean
}

/** How to serve. */
export interface ServerOptions {
  readonly handler: HttpHandler
  readonly engine: RpcEngine
  readonly log: Logger
  /** Address to listen on: `127.0.0.1`. */
  readonly host: string
  /** TCP port; 0 takes a free one. */
  readonly port: number
  /** Whether threads of this process may listen on the same port. Default: no. */
  readonly shared?: boolean
  /** What callers must know: threads that pass on what others asked them, and say who. Default: anybody may call. */
  readonly behind?: string
  /** Whose word for their clients' addresses counts. Default: nobody's. */
  readonly proxies?: TrustedProxies
  /** What bounds of connections and of bytes count together with other servers; undefined: this one's are its own. */
  readonly counts?: Pick<SharedCounts, 'of'> | undefined
  /** Hears of connections and requests; undefined: nobody does. */
  readonly watch?: ConnectionWatch | undefined
  /** How long `close` waits for answers under way, milliseconds. */
  readonly closeGraceMs: number
}

/** A running server. */
export interface Listening {
  readonly host: string
  /** The port it really has. */
  readonly port: number
  /** Takes no new requests, ends every connection, and resolves when all are gone. */
  close(): Promise<void>
}
