/**
 * Methods of Ethereum's interface about the node: `net_…`, `web3_…`, `eth_accounts`, `eth_protocolVersion`.
 * @see lotus node/impl/eth/basic.go
 */
import { json, text } from '../../codec/description.ts'
import type { EthReader } from '../ethReader.ts'
import { type MethodRow, method } from '../method.ts'
import { ethUint64 } from '../types/ethScalars.ts'

/** Rows about the node. @param clientVersion - name, version and network */
export function ethBasicMethods(reader: EthReader, clientVersion: string): MethodRow[] {
  const { view } = reader
  return [
    method({
      name: 'Web3ClientVersion',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: "The node's name and version.",
      aliases: ['web3_clientVersion'],
      params: [],
      result: text,
      handler: () => clientVersion,
    }),
    method({
      name: 'NetVersion',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'The chain ID in decimal.',
      aliases: ['net_version'],
      params: [],
      result: text,
      handler: () => reader.chainId.toString(),
    }),
    method({
      name: 'EthProtocolVersion',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'The network version.',
      aliases: ['eth_protocolVersion'],
      params: [],
      result: ethUint64,
      handler: () => BigInt(view.networkVersion(view.store.head().height)),
    }),
    method({
      name: 'EthAccounts',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'None: the node signs no Ethereum transactions.',
      aliases: ['eth_accounts'],
      params: [],
      result: json,
      handler: () => [],
    }),
  ]
}
