/**
 * Logs of contracts in the past: eth_getLogs.
 * @see lotus node/impl/eth/events.go EthGetLogs
 */
import { nilPointer, RpcError } from '../errors.ts'
import type { EthLogSearch } from '../ethLogSearch.ts'
import type { EthReader } from '../ethReader.ts'
import { type MethodRow, method } from '../method.ts'
import { ethGetLogs } from '../signatures/ethEvents.ts'
import { type HeightRange, heightRange, type LogFilter } from '../types/logFilter.ts'

const CONTEXT = 'failed to get events for filter'

/** Rows of the searches of logs. */
export function ethEventMethods(reader: EthReader, search: EthLogSearch): MethodRow[] {
  const { store } = reader.view
  return [
    method({
      ...ethGetLogs,
      handler: async (filter, call) => {
        if (filter === null) throw nilPointer('eth_getLogs')
        const range = rangeOf(filter, store.head().height, search.longestRange)
        const { blockHash } = filter
        const top =
          blockHash === undefined
            ? undefined
            : (await reader.findHash(blockHash, call, `${CONTEXT}: failed to get tipset by cid`)).height
        if (Math.max(top ?? -1, range?.from ?? -1, range?.to ?? -1) >= store.head().height) {
          throw new RpcError('FAILED', `${CONTEXT}: events for the requested block are not yet available`)
        }
        return search.past(filter, range, `${CONTEXT}: failed to get events for filter from chain indexer`, call)
      },
    }),
  ]
}

function rangeOf(filter: LogFilter, head: number, longest: number): HeightRange | undefined {
  try {
    return heightRange(filter, head, longest)
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== 'FAILED') throw error
    throw new RpcError('FAILED', `${CONTEXT}: failed to parse eth filter spec: ${error.message}`, { cause: error })
  }
}
