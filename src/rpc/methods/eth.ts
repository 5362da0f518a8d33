/**
 * Methods `Eth…`: blocks here, the others in the files beside it.
 * @see lotus node/impl/eth
 */
import type { Json } from '../../codec/description.ts'
import type { Tipset } from '../../types/tipset.ts'
import { EthLogSearch } from '../ethLogSearch.ts'
import { type EthMethodsDeps, EthReader, locateIn } from '../ethReader.ts'
import { type MethodRow, method } from '../method.ts'
import {
  ethBlockNumber,
  ethGetBlockByHash,
  ethGetBlockByNumber,
  ethGetBlockTransactionCountByHash,
  ethGetBlockTransactionCountByNumber,
} from '../signatures/eth.ts'
import { blockJson } from '../types/eth.ts'
import { actorEventMethods } from './actorEvents.ts'
import { ethAccountMethods } from './ethAccounts.ts'
import { ethBasicMethods } from './ethBasic.ts'
import { ethEventMethods } from './ethEvents.ts'
import { type EthFilterDeps, ethFilterMethods } from './ethFilters.ts'
import { ethGasMethods } from './ethGas.ts'
import { ethSendMethods } from './ethSend.ts'
import { ethSubscribeMethods } from './ethSubscribe.ts'
import { traceMethods } from './ethTrace.ts'
import { ethTransactionMethods } from './ethTransactions.ts'

/** Rows of `Eth…`. */
export function ethMethods(deps: EthMethodsDeps & Omit<EthFilterDeps, 'reader' | 'search'>): MethodRow[] {
  const reader = new EthReader(deps)
  const locate = locateIn(reader, deps)
  const search = new EthLogSearch(reader)
  return [
    ...blockMethods(reader),
    ...ethTransactionMethods(reader, locate),
    ...ethAccountMethods(reader, deps.pool),
    ...ethGasMethods(reader, deps.gas),
    ...ethSendMethods(reader, deps.pool),
    ...ethBasicMethods(reader, deps.clientVersion),
    ...ethEventMethods(reader, search),
    ...ethFilterMethods({ ...deps, reader, search }),
    ...actorEventMethods({ reader, log: deps.log }),
    ...traceMethods(reader, locate),
    ...ethSubscribeMethods({ ...deps, reader }),
  ]
}

function blockMethods(reader: EthReader): MethodRow[] {
  const { chainId } = reader
  const blockOf = async (tipset: Tipset, full: boolean): Promise<Json> =>
    blockJson(await reader.executed(tipset), chainId, full, tipset.height >= reader.view.store.head().height)
  return [
    method({
      ...ethBlockNumber,
      handler: () => BigInt(reader.tipset('latest', false).height),
    }),
    method({
      ...ethGetBlockByNumber,
      handler: (one, full) => blockOf(reader.tipset(one, true), full),
    }),
    method({
      ...ethGetBlockByHash,
      handler: (hash, full) => blockOf(reader.tipsetOfHash(hash), full),
    }),
    method({
      ...ethGetBlockTransactionCountByNumber,
      handler: (one) => BigInt(transactionCount(reader, reader.tipset(one, true))),
    }),
    method({
      ...ethGetBlockTransactionCountByHash,
      handler: (hash) => BigInt(transactionCount(reader, reader.tipsetOfHash(hash))),
    }),
  ]
}

function transactionCount(reader: EthReader, tipset: Tipset): number {
  return tipset.height === 0 ? 0 : reader.view.tipsetMessages(tipset).length
}
