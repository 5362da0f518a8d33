/** Methods about the node itself: Version, Session, Shutdown, StartTime, rpc.discover. */
import { type Codec, struct, text, uint } from '../../codec/description.ts'
import { type ApiVersion, type MethodRow, method, nothing } from '../method.ts'
import { discoverMethod, type OpenRpcInfo } from '../openRpc.ts'
import type { MethodTable } from '../table.ts'

/** Result of `Version`. */
export interface ApiVersionInfo {
  /** Version of the build with the network's name, e.g. `0.1.0+mainnet`. */
  readonly version: string
  /** major << 16 | minor << 8 | patch of the API. */
  readonly apiVersion: number
  readonly blockDelay: number
  readonly agent: string
}

/** Versions of the API that a client of Lotus looks for. @see lotus api/version.go */
const API_VERSION: Readonly<Record<ApiVersion, number>> = {
  v0: (1 << 16) | (5 << 8),
  v1: (2 << 16) | (3 << 8),
  v2: (2 << 16) | (3 << 8),
}

const apiVersionInfo: Codec<ApiVersionInfo> = struct<ApiVersionInfo>('api.APIVersion', [
  ['version', 'Version', text],
  ['apiVersion', 'APIVersion', uint],
  ['blockDelay', 'BlockDelay', uint],
  ['agent', 'Agent', text],
])

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
      name: 'Version',
      perm: 'read',
      summary: 'Version of the node and of the API on this path.',
      params: [],
      result: apiVersionInfo,
      handler: (call) => ({
        version: deps.version,
        apiVersion: API_VERSION[call.version],
        blockDelay: deps.blockDelaySecs,
        agent: 'petrel',
      }),
    }),
    method({
      name: 'Session',
      perm: 'read',
      summary: 'A text that differs with every start of the node.',
      params: [],
      result: text,
      handler: () => deps.session,
    }),
    method({
      name: 'StartTime',
      perm: 'read',
      versions: ['v1'],
      summary: 'When the node started.',
      params: [],
      result: text,
      handler: () => new Date(deps.startTimeMs).toISOString(),
    }),
    method({
      name: 'Shutdown',
      perm: 'admin',
      summary: 'Ends the node.',
      params: [],
      result: nothing,
      handler: () => deps.shutdown(),
    }),
    discoverMethod(deps.table, deps.info),
  ]
}
