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
import { EthFilters } from '../ethFilters.ts'
import type { EthLogSearch } from '../ethLogSearch.ts'
import { ExecutedFeed, each, oncePerStep } from '../executedTipsets.ts'
import { MAX_FILTER_RESULTS } from '../limits.ts'
import { type MethodRow, method } from '../method.ts'
import {
  ethGetFilterChanges,
  ethGetFilterLogs,
  ethNewBlockFilter,
  ethNewFilter,
  ethNewPendingTransactionFilter,
  ethUninstallFilter,
} from '../signatures/ethFilters.ts'
import type { LogJson } from '../types/eth.ts'
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
  const feed = new ExecutedFeed(store, log)
  const logsOf = oncePerStep((executed, call) => search.logs(executed, call))
  return [
    method({
      ...ethNewFilter,
      handler: async (wanted, call) => {
        if (wanted === null) throw nilPointer('eth_newFilter')
        // The past ends at this head, whatever becomes of it while that is read: what comes after it is told as it comes.
        const head = store.head()
        const range = heightRange(wanted, head.height)
        let past: Promise<void> = Promise.resolve()
        const feeding = (collect: (result: Json) => void): (() => void) => {
          const context = 'failed to install event filter: get events for filter'
          past = search
            .past(wanted, range, context, call, head)
            .then((found) => call.walk(each(found.slice(-MAX_FILTER_RESULTS), collect)))
          return feed.on(async (change, ended) => {
            await past
            if (!isWithin(range, change.executed.height)) return
            const tell = (logged: LogJson): void => {
              if (!matchesNew(wanted, logged)) return
              collect(change.isReverted ? { ...logged.json, removed: true } : logged.json)
            }
            await call.walk(each(await logsOf(change, call), tell), ended)
          })
        }
        const id = filters.add('logs', call.name, feeding, wanted.bytes)
        try {
          await past
        } catch (error) {
          filters.remove(id)
          throw error
        }
        return id
      },
    }),
    method({
      ...ethNewBlockFilter,
      handler: ({ name }) =>
        filters.add('blocks', name, (collect) =>
          store.onHeadChange((_, applied) => {
            for (const tipset of applied) collect(hexBytes(ethBlockHash(tipset)))
          }),
        ),
    }),
    method({
      ...ethNewPendingTransactionFilter,
      handler: ({ name }) =>
        filters.add('transactions', name, (collect) =>
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
