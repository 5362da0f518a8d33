/**
 * Methods of Ethereum's interface about the node: `net_…`, `web3_…`, `eth_accounts`, `eth_protocolVersion`.
 * @see lotus node/impl/eth/basic.go
 */
import type { EthReader } from '../ethReader.ts'
import { type MethodRow, method } from '../method.ts'
import { ethAccounts, ethProtocolVersion, netVersion, web3ClientVersion } from '../signatures/ethBasic.ts'

/** Rows about the node. @param clientVersion - name, version and network */
export function ethBasicMethods(reader: EthReader, clientVersion: string): MethodRow[] {
  const { view } = reader
  return [
    method({
      ...web3ClientVersion,
      handler: () => clientVersion,
    }),
    method({
      ...netVersion,
      handler: () => reader.chainId.toString(),
    }),
    method({
      ...ethProtocolVersion,
      handler: () => BigInt(view.networkVersion(view.store.head().height)),
    }),
    method({
      ...ethAccounts,
      handler: () => [],
    }),
  ]
}
