/**
 * Logs of the past.
 * @see lotus node/impl/eth/events.go ethGetEventsForFilter; chain/index/events.go GetEventsForFilter
 */
import type { Steps } from '../base/steps.ts'
import type { Json } from '../codec/jsonText.ts'
import type { ExecutedTipset } from '../eth/executedTipset.ts'
import type { Tipset } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import { MAX_FILTER_RESULTS } from './ethFilters.ts'
import { EthLogIndex, type LoggedTipset } from './ethLogIndex.ts'
import type { EthReader, Walking } from './ethReader.ts'
import { type LogJson, logsOf } from './types/eth.ts'
import { type HeightRange, type LogFilter, matchesPast } from './types/logFilter.ts'

/** See the file's comment. */
export class EthLogSearch {
  readonly #reader: EthReader
  readonly #index: EthLogIndex

  constructor(reader: EthReader) {
    this.#reader = reader
    this.#index = new EthLogIndex({ store: reader.view.store, logs: (tipset, call) => this.logs(tipset, call) })
  }

  /** All logs of a tipset, in order. */
  async logs(tipset: Tipset, call: Walking): Promise<LogJson[]> {
    const { chainId } = this.#reader
    const executed = await this.#reader.executed(tipset, call)
    return call.walk(printedLogs(executed, chainId))
  }

  /**
   * The logs that a filter wants, of executed tipsets alone.
   * @param range - undefined: of the block that the filter names by hash
   * @param context - before the failure's text
   * @throws RpcError `FAILED` when there are too many
   */
  async past(filter: LogFilter, range: HeightRange | undefined, context: string, call: Walking): Promise<Json[]> {
    const tipsets = range === undefined ? [await this.#named(filter, call)] : await this.#inRange(range, call)
    return call.walk(wanted(tipsets, filter, context))
  }

  async #named({ blockHash }: LogFilter, call: Walking): Promise<LoggedTipset> {
    const tipset = await call.walk(this.#reader.tipsetOfHash(blockHash as Uint8Array))
    return { tipset, logs: await this.logs(tipset, call) }
  }

  async #inRange({ from, to }: HeightRange, call: Walking): Promise<readonly LoggedTipset[]> {
    const latest = this.#reader.view.store.head().height - 1
    const top = Math.min(to ?? latest, latest)
    return from > top ? [] : this.#index.between(Math.max(0, from), top, call)
  }
}

function* printedLogs(executed: ExecutedTipset, chainId: bigint): Steps<LogJson[]> {
  const logs = logsOf(executed, chainId)
  yield
  return logs.flat()
}

function* wanted(tipsets: readonly LoggedTipset[], filter: LogFilter, context: string): Steps<Json[]> {
  const out: Json[] = []
  let contributing = 0
  for (const { logs } of tipsets) {
    const before = out.length
    for (const log of logs) if (matchesPast(filter, log)) out.push(log.json)
    if (out.length > before) contributing++
    // One tipset may have more than the limit: it cannot be divided.
    if (contributing > 1 && out.length > MAX_FILTER_RESULTS) {
      throw new RpcError('FAILED', `${context}: filter matches too many events, try a more restricted filter`)
    }
    yield
  }
  return out
}
