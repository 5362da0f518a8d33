/**
 * Methods `Eth…`: blocks here, the others in the files beside it.
 * @see lotus node/impl/eth
 */
import { bool, type Json, json, text } from '../../codec/description.ts'
import type { Tipset } from '../../types/tipset.ts'
import { EthLogSearch } from '../ethLogSearch.ts'
import { type EthMethodsDeps, EthReader, locateIn } from '../ethReader.ts'
import { type MethodRow, method, param } from '../method.ts'
import { blockJson } from '../types/eth.ts'
import { ethHash, ethUint64 } from '../types/ethScalars.ts'
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

const hashParam = param('blkHash', ethHash)
const blockNumber = param('blkNum', text)
const fullParam = param('fullTxInfo', bool)

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
      name: 'EthBlockNumber',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Height of the last executed tipset.',
      aliases: ['eth_blockNumber'],
      params: [],
      result: ethUint64,
      handler: () => BigInt(reader.tipset('latest', false).height),
    }),
    method({
      name: 'EthGetBlockByNumber',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A block by number or tag.',
      aliases: ['eth_getBlockByNumber'],
      params: [blockNumber, fullParam],
      result: json,
      handler: (one, full) => blockOf(reader.tipset(one, true), full),
    }),
    method({
      name: 'EthGetBlockByHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A block by hash.',
      aliases: ['eth_getBlockByHash'],
      params: [hashParam, fullParam],
      result: json,
      handler: (hash, full) => blockOf(reader.tipsetOfHash(hash), full),
    }),
    method({
      name: 'EthGetBlockTransactionCountByNumber',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Number of transactions of a block.',
      aliases: ['eth_getBlockTransactionCountByNumber'],
      params: [blockNumber],
      result: ethUint64,
      handler: (one) => BigInt(transactionCount(reader, reader.tipset(one, true))),
    }),
    method({
      name: 'EthGetBlockTransactionCountByHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Number of transactions of a block.',
      aliases: ['eth_getBlockTransactionCountByHash'],
      params: [hashParam],
      result: ethUint64,
      handler: (hash) => BigInt(transactionCount(reader, reader.tipsetOfHash(hash))),
    }),
  ]
}

function transactionCount(reader: EthReader, tipset: Tipset): number {
  return tipset.height === 0 ? 0 : reader.view.tipsetMessages(tipset).length
}
