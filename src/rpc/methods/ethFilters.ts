/**
 * Methods of filters that a client polls.
 * @see lotus node/impl/eth/events.go EthNewFilter, EthNewBlockFilter, EthNewPendingTransactionFilter
 */
import type { Clock } from '../../base/ports.ts'
import { bool, type Json, json } from '../../codec/description.ts'
import { ethBlockHash } from '../../eth/ethIndex.ts'
import { ethHashOf } from '../../eth/ethTransactionOf.ts'
import { signedChainMessage } from '../../types/chainMessage.ts'
import { EthFilters, MAX_FILTER_RESULTS } from '../ethFilters.ts'
import type { EthLogSearch } from '../ethLogSearch.ts'
import { onExecuted } from '../executedTipsets.ts'
import { type MethodRow, method, param } from '../method.ts'
import { ethHash, hexBytes } from '../types/ethScalars.ts'
import { type HeightRange, heightRange, logFilter, matchesNew } from '../types/logFilter.ts'
import type { EthSubscribeDeps } from './ethSubscribe.ts'

/** What the methods need. */
export interface EthFilterDeps extends EthSubscribeDeps {
  readonly search: EthLogSearch
  readonly clock: Clock
}

/** Rows of the filters. */
export function ethFilterMethods(deps: EthFilterDeps): MethodRow[] {
  const { reader, search, log } = deps
  const { store } = reader.view
  const filters = new EthFilters(deps)
  const idParam = param('id', ethHash)
  return [
    method({
      name: 'EthNewFilter',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Collects logs, from those that there are already.',
      aliases: ['eth_newFilter'],
      params: [param('filter', logFilter)],
      result: ethHash,
      handler: async (wanted) => {
        const range = heightRange(wanted, store.head().height)
        const found = await search.past(wanted, range, 'failed to install event filter: get events for filter')
        const past = found.slice(-MAX_FILTER_RESULTS)
        return filters.add('logs', past, (collect) =>
          onExecuted(store, log, async ({ executed, isReverted }) => {
            if (!isWithin(range, executed.height)) return
            for (const one of await search.logs(executed)) {
              if (matchesNew(wanted, one)) collect(isReverted ? { ...one.json, removed: true } : one.json)
            }
          }),
        )
      },
    }),
    method({
      name: 'EthNewBlockFilter',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Collects hashes of new blocks.',
      aliases: ['eth_newBlockFilter'],
      params: [],
      result: ethHash,
      handler: () =>
        filters.add('blocks', [], (collect) =>
          store.onHeadChange((_, applied) => {
            for (const tipset of applied) collect(hexBytes(ethBlockHash(tipset)))
          }),
        ),
    }),
    method({
      name: 'EthNewPendingTransactionFilter',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Collects hashes of transactions that enter the pool.',
      aliases: ['eth_newPendingTransactionFilter'],
      params: [],
      result: ethHash,
      handler: () =>
        filters.add('transactions', [], (collect) =>
          deps.onPoolMessage((signed) => collect(hexBytes(ethHashOf(signedChainMessage(signed), reader.chainId)))),
        ),
    }),
    method({
      name: 'EthGetFilterChanges',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'What a filter collected since the last question.',
      aliases: ['eth_getFilterChanges'],
      params: [idParam],
      result: json,
      handler: (id): Json => filters.take(id),
    }),
    method({
      name: 'EthGetFilterLogs',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'What a filter of logs collected since the last question.',
      aliases: ['eth_getFilterLogs'],
      params: [idParam],
      result: json,
      handler: (id): Json => filters.take(id, 'logs'),
    }),
    method({
      name: 'EthUninstallFilter',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Ends a filter; false when there is none.',
      aliases: ['eth_uninstallFilter'],
      params: [idParam],
      result: bool,
      handler: (id) => filters.remove(id),
    }),
  ]
}

/** undefined: one block by hash, which is past. */
function isWithin(range: HeightRange | undefined, height: number): boolean {
  return range !== undefined && height >= range.from && (range.to === undefined || height <= range.to)
}
