/**
 * Logs of the past.
 * @see lotus node/impl/eth/events.go ethGetEventsForFilter; chain/index/events.go GetEventsForFilter
 */
import type { Json } from '../codec/jsonText.ts'
import type { Tipset } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import { MAX_FILTER_RESULTS } from './ethFilters.ts'
import { EthLogIndex, type LoggedTipset } from './ethLogIndex.ts'
import type { EthReader } from './ethReader.ts'
import { type LogJson, logsOf } from './types/eth.ts'
import { type HeightRange, type LogFilter, matchesPast } from './types/logFilter.ts'

/** See the file's comment. */
export class EthLogSearch {
  readonly #reader: EthReader
  readonly #index: EthLogIndex

  constructor(reader: EthReader) {
    this.#reader = reader
    this.#index = new EthLogIndex({ store: reader.view.store, logs: (tipset) => this.logs(tipset) })
  }

  /** All logs of a tipset, in order. */
  async logs(tipset: Tipset): Promise<LogJson[]> {
    return logsOf(await this.#reader.executed(tipset), this.#reader.chainId).flat()
  }

  /**
   * The logs that a filter wants, of executed tipsets alone.
   * @param range - undefined: of the block that the filter names by hash
   * @param context - before the failure's text
   * @throws RpcError `FAILED` when there are too many
   */
  async past(filter: LogFilter, range: HeightRange | undefined, context: string): Promise<Json[]> {
    const tipsets = range === undefined ? [await this.#named(filter)] : await this.#inRange(range)
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
    }
    return out
  }

  async #named({ blockHash }: LogFilter): Promise<LoggedTipset> {
    const tipset = this.#reader.tipsetOfHash(blockHash as Uint8Array)
    return { tipset, logs: await this.logs(tipset) }
  }

  async #inRange({ from, to }: HeightRange): Promise<readonly LoggedTipset[]> {
    const latest = this.#reader.view.store.head().height - 1
    const top = Math.min(to ?? latest, latest)
    return from > top ? [] : this.#index.between(Math.max(0, from), top)
  }
}
