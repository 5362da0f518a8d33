/** One open connection, with what the node said of itself. What comes late, for a session that is over, belongs to nobody. */
import { type TipsetKey, tipsetKeyText } from 'petrel'
import type { Connection } from './connection.ts'
import { Evidence } from './evidence.ts'
import type { MonitorNode } from './methods.ts'

/** Funded accounts of a local chain that are offered. */
const SUGGESTIONS = 3

/** The chain that is shown. */
export interface ChainInfo {
  readonly network: string
  /** CIDs of its genesis; empty: the node does not say. */
  readonly genesis: string
  readonly agent: string
  /** Seconds per epoch. */
  readonly blockDelay: number
  readonly prefix: 'f' | 't'
  /** Of a local chain: addresses with funds, to begin with. */
  readonly suggestions: readonly string[]
  /** What the node takes for granted of storage proofs, as one line; empty: nothing, or it does not say. */
  readonly presumed: string
}

export interface Session {
  readonly connection: Connection
  readonly node: MonitorNode
  readonly info: ChainInfo
  readonly evidence: Evidence
}

/** Whether both are of one chain, as far as the nodes say. */
export function isSameChain(a: ChainInfo, b: ChainInfo): boolean {
  return a.network === b.network && (a.genesis === b.genesis || a.genesis === '' || b.genesis === '')
}

/** Asks a node who it is. @throws RpcClientError */
export async function openSession(connection: Connection): Promise<Session> {
  const { node, trust } = connection
  const [version, network, genesis, suggestions, presumed] = await Promise.all([
    node.Version(),
    node.StateNetworkName(),
    node.ChainGetGenesis().then(
      ({ key }: { readonly key: TipsetKey }) => tipsetKeyText(key),
      () => '',
    ),
    node.DevnetAccounts().then(
      (accounts) => accounts.slice(0, SUGGESTIONS).map(({ address }) => address.toString('f')),
      () => [],
    ),
    node.SyncPresumed().catch(() => ''),
  ])
  const info: ChainInfo = {
    network,
    genesis,
    agent: `${version.agent} ${version.version}`.trim(),
    blockDelay: Math.max(1, version.blockDelay),
    prefix: network === 'mainnet' ? 'f' : 't',
    suggestions,
    presumed,
  }
  return { connection, node, info, evidence: new Evidence(trust) }
}
