/**
 * Logs of the past.
 * @see lotus node/impl/eth/events.go ethGetEventsForFilter; chain/index/events.go GetEventsForFilter
 */
import type { Json } from '../codec/jsonText.ts'
import type { HeadIndex } from '../index/headIndex.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { Tipset } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import { EthLogIndex, type LogRange, type ShowLogs } from './ethLogIndex.ts'
import type { EthReader, Walking } from './ethReader.ts'
import { indexedLog, indexedLogs } from './indexedLogs.ts'
import { MAX_EVENT_RANGE, MAX_FILTER_RESULTS } from './limits.ts'
import { type LogJson, logsOf, printedLogs, type SearchedLog } from './types/eth.ts'
import { type HeightRange, type LogFilter, matchesPast } from './types/logFilter.ts'

/** Searches the head's chain: by the index of a database if there is one, else through the node's own stretch. */
export class EthLogSearch {
  readonly #reader: EthReader
  readonly #index: EthLogIndex
  readonly #database: HeadIndex | undefined

  /** @param database - an index that reaches further than the node's own */
  constructor(reader: EthReader, database?: HeadIndex) {
    this.#reader = reader
    this.#database = database
    this.#index = new EthLogIndex({
      store: reader.view.store,
      logs: (tipset, call) => this.logs(tipset, call),
      ...(reader.edge === undefined ? {} : { ahead: (tipset, call) => reader.fetchLogged(tipset, call) }),
    })
  }

  /** Epochs that a search may span: of an index, all. */
  get longestRange(): number {
    return this.#database === undefined ? MAX_EVENT_RANGE : Number.MAX_SAFE_INTEGER
  }

  /** All logs of a tipset, in order. */
  async logs(tipset: Tipset, call: Walking): Promise<LogJson[]> {
    return (await call.walk(printedLogs(await this.#reader.logged(tipset, call)))).flat()
  }

  /**
   * The logs that a filter wants, of executed tipsets alone.
   * @param range - undefined: of the block that the filter names by hash
   * @param context - before the failure's text
   * @param head - whose chain is searched, wherever the node's head goes meanwhile
   * @throws RpcError `FAILED` when there are too many
   */
  async past(
    filter: LogFilter,
    range: HeightRange | undefined,
    context: string,
    call: Walking,
    head: Tipset = this.#reader.view.store.head(),
  ): Promise<Json[]> {
    const { from, to } = range ?? { from: 0, to: 0 }
    const latest = head.height - 1
    const top = Math.min(to ?? latest, latest)
    const below: LogRange = { head, from, to: top }
    const inDatabase = this.#database
    const isLong = range !== undefined && top - from > MAX_EVENT_RANGE
    if (inDatabase !== undefined && range !== undefined && (isLong || inDatabase.isFirst)) {
      return this.#inDatabase(inDatabase, filter, below, context, call)
    }
    try {
      const wanted = new WantedLogs(filter, () => tooManyEvents(context))
      if (range === undefined) wanted.look(await this.#named(filter, call))
      else await this.#inRange(below, call, wanted.look)
      return wanted.found
    } catch (error) {
      if (inDatabase === undefined || range === undefined || !(error instanceof BlockMissing)) throw error
      return this.#inDatabase(inDatabase, filter, below, context, call)
    }
  }

  /** From the database as far as it reaches on the head's chain; what is above that is near the head. */
  async #inDatabase(
    database: HeadIndex,
    filter: LogFilter,
    { head, from, to }: LogRange,
    context: string,
    call: Walking,
  ): Promise<Json[]> {
    if (from > to) return []
    const tooMany = (): RpcError => tooManyEvents(context)
    const { rows, top } = await indexedLogs(database, { filter, head, from, to }, { context, tooMany })
    const out = rows.map(indexedLog)
    const above = new WantedLogs(filter, tooMany)
    if (top < to) await this.#inRange({ head, from: Math.max(from, top + 1), to }, call, above.look)
    const rest = above.found
    if (rest.length > 0 && out.length > 0 && out.length + rest.length > MAX_FILTER_RESULTS) throw tooMany()
    return [...out, ...rest]
  }

  async #named({ blockHash }: LogFilter, call: Walking): Promise<readonly SearchedLog[]> {
    const tipset = await this.#reader.findHash(blockHash as Uint8Array, call)
    return this.#reader.told(tipset, call, (block) => logsOf(block).flat())
  }

  async #inRange({ head, from, to }: LogRange, call: Walking, show: ShowLogs): Promise<void> {
    const lowest = Math.max(0, from)
    if (lowest <= to) await this.#index.between({ head, from: lowest, to }, call, show)
  }
}

function tooManyEvents(context: string): RpcError {
  return new RpcError('FAILED', `${context}: filter matches too many events, try a more restricted filter`)
}

/** What a filter wants of the logs that are shown: of a long range nobody holds all. */
class WantedLogs {
  readonly found: Json[] = []
  readonly #filter: LogFilter
  readonly #tooMany: () => RpcError
  /** Tipsets that have some. */
  #contributing = 0

  constructor(filter: LogFilter, tooMany: () => RpcError) {
    this.#filter = filter
    this.#tooMany = tooMany
  }

  /** @param logs - of one tipset */
  readonly look: ShowLogs = (logs) => {
    const before = this.found.length
    for (const log of logs) if (matchesPast(this.#filter, log)) this.found.push(log.json)
    if (this.found.length > before) this.#contributing++
    // One tipset may have more than the limit: it cannot be divided.
    if (this.#contributing > 1 && this.found.length > MAX_FILTER_RESULTS) throw this.#tooMany()
  }
}
