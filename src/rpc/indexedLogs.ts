/** Logs of any age, from an index. */
import { fromHex } from '../base/bytes.ts'
import type { Json } from '../codec/jsonText.ts'
import type { HeadIndex } from '../index/headIndex.ts'
import type { LogQuestion, LogRow } from '../index/indexReader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import { MAX_FILTER_RESULTS } from './limits.ts'
import { loneLogJson } from './types/eth.ts'
import type { LogFilter } from './types/logFilter.ts'

/** More than any tipset has. */
const WHOLE_TIPSET_LOGS = 1_000_000

/** The columns of a filter, by the rules of {@link matchesPast}. */
function columnsOf({ addresses, ids, topics }: LogFilter): Pick<LogQuestion, 'emitters' | 'addresses' | 'topics'> {
  const bare = (texts: Iterable<string>): string[] => [...texts].map((text) => text.slice(2))
  return {
    emitters: [...ids].map(String),
    addresses: addresses.size > ids.size ? bare(addresses) : [],
    topics: topics.map((any) => (any === undefined ? undefined : bare(any))),
  }
}

/** What is searched. */
interface IndexedRange {
  readonly filter: LogFilter
  readonly head: Tipset
  readonly from: ChainEpoch
  readonly to: ChainEpoch
}

/**
 * The logs between two heights of a head's chain that a filter wants, as far as the index reaches there.
 * @param failures - what is thrown where there are more than an answer may have, of more than one tipset
 * @throws RpcError `FAILED` where the index begins later
 */
export async function indexedLogs(
  index: HeadIndex,
  { filter, head, from, to }: IndexedRange,
  { context, tooMany }: { readonly context: string; readonly tooMany: () => RpcError },
): Promise<{ readonly rows: readonly LogRow[]; readonly top: ChainEpoch }> {
  const columns = columnsOf(filter)
  const read = (lowest: ChainEpoch, highest: ChainEpoch, limit: number): ReturnType<typeof index.ask<Answer>> =>
    index.ask((anchor) => index.reader.logs({ ...columns, from: lowest, to: highest, limit }, anchor))
  const found = await read(from, to, MAX_FILTER_RESULTS + 1)
  if (found === undefined) throw new RpcError('FAILED', `${context}: the index is empty yet`)
  const { answer, place } = found
  if (from < place.first) throw new RpcError('FAILED', `${context}: the index begins at epoch ${place.first}`)
  const top = Math.min(to, place.top, commonHeight(index, place.newest, head))
  const rows = answer.rows.filter(({ height }) => height <= top)
  if (rows.length <= MAX_FILTER_RESULTS) return { rows, top }
  // One tipset may have more than the limit: it cannot be divided.
  const height = rows[0]?.height ?? 0
  if (rows.some((row) => row.height !== height)) throw tooMany()
  const others = await read(height + 1, top, 1)
  if (others === undefined || others.answer.rows.length > 0) throw tooMany()
  const whole = await read(height, height, WHOLE_TIPSET_LOGS)
  return { rows: whole?.answer.rows ?? [], top }
}

/** The highest epoch that two tipsets' chains have in common: the node's head may have left the one that is searched. */
function commonHeight({ view: { store } }: HeadIndex, newest: Tipset, head: Tipset): ChainEpoch {
  const left = store.branches(newest, head).reverted.at(-1)
  return left === undefined ? newest.height : store.parent(left).height
}

type Answer = Awaited<ReturnType<HeadIndex['reader']['logs']>>

/** A log of an index as `eth_getLogs` has it. */
export function indexedLog(row: LogRow): Json {
  return loneLogJson({
    ...{ address: fromHex(row.address), data: fromHex(row.data), topics: row.topics.map(fromHex) },
    ...{ logIndex: row.position, transactionHash: fromHex(row.transaction) },
    ...{ blockHash: fromHex(row.tipset), blockNumber: row.height, transactionIndex: row.transaction_index },
  })
}
