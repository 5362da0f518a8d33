/** Methods about the node itself: Version, Session, Shutdown, StartTime, rpc.discover. */
import { type ApiVersion, type MethodRow, method } from '../method.ts'
import { discoverMethod, type OpenRpcInfo } from '../openRpc.ts'
import { session, shutdown, startTime, version } from '../signatures/common.ts'
import type { MethodTable } from '../table.ts'

/** Versions of the API that a client of Lotus looks for. @see lotus api/version.go */
const API_VERSION: Readonly<Record<ApiVersion, number>> = {
  v0: (1 << 16) | (5 << 8),
  v1: (2 << 16) | (3 << 8),
  v2: (2 << 16) | (3 << 8),
}

/** What the methods need. */
export interface CommonMethodsDeps {
  /** Version of the build with the network's name. */
  readonly version: string
  /** Seconds between epochs. */
  readonly blockDelaySecs: number
  /** A text that differs with every start of the node. */
  readonly session: string
  /** When the node started, Unix milliseconds. */
  readonly startTimeMs: number
  /** Ends the node after the answer has gone out. */
  readonly shutdown: () => void
  readonly table: () => MethodTable
  readonly info: OpenRpcInfo
}

/** Rows about the node itself. */
export function commonMethods(deps: CommonMethodsDeps): MethodRow[] {
  return [
    method({
      ...version,
      handler: (call) => ({
        version: deps.version,
        apiVersion: API_VERSION[call.version],
        blockDelay: deps.blockDelaySecs,
        agent: 'petrel',
      }),
    }),
    method({
      ...session,
      handler: () => deps.session,
    }),
    method({
      ...startTime,
      handler: () => new Date(deps.startTimeMs).toISOString(),
    }),
    method({
      ...shutdown,
      handler: () => deps.shutdown(),
    }),
    discoverMethod(deps.table, deps.info),
  ]
}
