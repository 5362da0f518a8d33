/**
 * Methods `Eth…`: blocks here, the others in the files beside it.
 * @see lotus node/impl/eth
 */
import { finish } from '../../base/steps.ts'
import type { Json } from '../../codec/description.ts'
import { knownMessages } from '../../index/indexedTipset.ts'
import type { Tipset } from '../../types/tipset.ts'
import { EthLogSearch } from '../ethLogSearch.ts'
import { type EthMethodsDeps, EthReader, type Locate, locateIn, type Walking } from '../ethReader.ts'
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
  const search = new EthLogSearch(reader, deps.index)
  return [
    ...readMethods(reader, locate, deps),
    ...ethGasMethods(reader, deps.gas),
    ...ethSendMethods(reader, deps.pool),
    ...ethEventMethods(reader, search),
    ...ethFilterMethods({ ...deps, reader, search }),
    ...actorEventMethods({ reader, log: deps.log }),
    ...traceMethods(reader, locate),
    ...ethSubscribeMethods({ ...deps, reader }),
  ]
}

/** Those that look at the chain and at nothing else of the node, as far as their parameters name nothing else. */
export function ethReadMethods(deps: EthMethodsDeps): MethodRow[] {
  const reader = new EthReader(deps)
  return readMethods(reader, locateIn(reader, deps), deps)
}

function readMethods(reader: EthReader, locate: Locate, deps: EthMethodsDeps): MethodRow[] {
  return [
    ...blockMethods(reader),
    ...ethTransactionMethods(reader, locate, deps.index),
    ...ethAccountMethods(reader, deps.pool),
    ...ethBasicMethods(reader, deps.clientVersion),
  ]
}

function blockMethods(reader: EthReader): MethodRow[] {
  const told = (tipset: Tipset, full: boolean, call: Walking): Promise<Json> => {
    const isHead = tipset.height >= reader.view.store.head().height
    return reader.told(tipset, call, (block) => blockJson(block, full, isHead))
  }
  return [
    method({
      ...ethBlockNumber,
      handler: () => BigInt(finish(reader.tipset('latest', false)).height),
    }),
    method({
      ...ethGetBlockByNumber,
      handler: async (block, full, call) => told(await reader.find(block, true, call), full, call),
    }),
    method({
      ...ethGetBlockByHash,
      handler: async (hash, full, call) => told(await reader.findHash(hash, call), full, call),
    }),
    method({
      ...ethGetBlockTransactionCountByNumber,
      handler: async (block, call) => transactionCount(reader, await reader.find(block, true, call)),
    }),
    method({
      ...ethGetBlockTransactionCountByHash,
      handler: async (hash, call) => transactionCount(reader, await reader.findHash(hash, call)),
    }),
  ]
}

async function transactionCount({ view, database }: EthReader, tipset: Tipset): Promise<bigint> {
  return BigInt((await knownMessages(view, database, tipset)).length)
}
