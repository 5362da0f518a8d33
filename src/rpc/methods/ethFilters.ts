/**
 * Methods of filters that a client polls.
 * @see lotus node/impl/eth/events.go EthNewFilter, EthNewBlockFilter, EthNewPendingTransactionFilter
 */
import type { Clock } from '../../base/ports.ts'
import type { Json } from '../../codec/description.ts'
import { ethBlockHash } from '../../eth/ethIndex.ts'
import { ethHashOf } from '../../eth/ethTransactionOf.ts'
import { signedChainMessage } from '../../types/chainMessage.ts'
import { nilPointer } from '../errors.ts'
import { EthFilters, MAX_FILTER_RESULTS } from '../ethFilters.ts'
import type { EthLogSearch } from '../ethLogSearch.ts'
import { UNHURRIED } from '../ethReader.ts'
import { onExecuted } from '../executedTipsets.ts'
import { type MethodRow, method } from '../method.ts'
import {
  ethGetFilterChanges,
  ethGetFilterLogs,
  ethNewBlockFilter,
  ethNewFilter,
  ethNewPendingTransactionFilter,
  ethUninstallFilter,
} from '../signatures/ethFilters.ts'
import { hexBytes } from '../types/ethScalars.ts'
import { type HeightRange, heightRange, matchesNew } from '../types/logFilter.ts'
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
  return [
    method({
      ...ethNewFilter,
      handler: async (wanted, call) => {
        if (wanted === null) throw nilPointer('eth_newFilter')
        const range = heightRange(wanted, store.head().height)
        const found = await search.past(wanted, range, 'failed to install event filter: get events for filter', call)
        const past = found.slice(-MAX_FILTER_RESULTS)
        return filters.add('logs', past, (collect) =>
          onExecuted(store, log, async ({ executed, isReverted }) => {
            if (!isWithin(range, executed.height)) return
            for (const logged of await search.logs(executed, UNHURRIED)) {
              if (matchesNew(wanted, logged)) collect(isReverted ? { ...logged.json, removed: true } : logged.json)
            }
          }),
        )
      },
    }),
    method({
      ...ethNewBlockFilter,
      handler: () =>
        filters.add('blocks', [], (collect) =>
          store.onHeadChange((_, applied) => {
            for (const tipset of applied) collect(hexBytes(ethBlockHash(tipset)))
          }),
        ),
    }),
    method({
      ...ethNewPendingTransactionFilter,
      handler: () =>
        filters.add('transactions', [], (collect) =>
          deps.onPoolMessage((signed) => collect(hexBytes(ethHashOf(signedChainMessage(signed), reader.chainId)))),
        ),
    }),
    method({
      ...ethGetFilterChanges,
      handler: (id): Json => filters.take(id),
    }),
    method({
      ...ethGetFilterLogs,
      handler: (id): Json => filters.take(id, 'logs'),
    }),
    method({
      ...ethUninstallFilter,
      handler: (id) => filters.remove(id),
    }),
  ]
}

/** undefined: one block by hash, which is past. */
function isWithin(range: HeightRange | undefined, height: number): boolean {
  return range !== undefined && height >= range.from && (range.to === undefined || height <= range.to)
}
