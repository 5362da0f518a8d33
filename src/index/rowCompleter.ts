/**
 * Columns that an earlier Petrel's rows lack, filled in from newest to oldest, as far down as this node can still execute: rows follow
 * from their tipset alone, so they become what they would have been.
 */
import { errorMessage, PetrelError } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { parseCid } from '../codec/cid.ts'
import { blockMissingIn } from '../ipld/errors.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { AppliedTipset, IndexedTipset, IndexSession } from './indexStore.ts'
import { LISTED_TIPSETS, MAX_MISSES } from './limits.ts'
import type { TipsetRows } from './tipsetRows.ts'

/** What this Petrel, or this node, cannot execute at all. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'UNSUPPORTED_NETWORK_VERSION',
  'UNKNOWN_CODE',
  'NOT_SUPPORTED',
  'NATIVE_UNSUPPORTED',
  'MIGRATION_NOT_SUPPORTED',
])

/** Whether a tipset can never be executed here. A machine that is busy, or ends, says nothing of the tipset. */
function isOutOfReach(error: unknown): boolean {
  return blockMissingIn(error) !== undefined || (error instanceof PetrelError && UNSUPPORTED.has(error.code as string))
}

/** Completes the rows of one index, a few tipsets at a time. */
export class RowCompleter {
  readonly #rows: TipsetRows
  readonly #store: ChainStore
  readonly #log: Logger
  readonly #together: number
  /** Those that come next, newest first. */
  #waiting: IndexedTipset[] = []
  #below: ChainEpoch = Number.MAX_SAFE_INTEGER
  #isDone = false
  #misses = 0
  /** Tipsets that were completed. */
  completed = 0
  /** Tipsets that lack something still: what they were executed on is not here. */
  left = 0

  /** @param together - tipsets that are executed at once */
  constructor(rows: TipsetRows, store: ChainStore, log: Logger, together = 1) {
    this.#rows = rows
    this.#store = store
    this.#log = log
    this.#together = together
  }

  /**
   * Completes the next ones.
   * @returns whether there may be more
   * @throws IndexError as {@link IndexSession.complete}: then it is to be called again, with the next session; what keeps a tipset
   * from being executed at this moment: later
   */
  async next(session: IndexSession): Promise<boolean> {
    if (this.#isDone) return false
    if (this.#waiting.length === 0) this.#waiting = [...(await session.lacking(this.#below, LISTED_TIPSETS))]
    const next = this.#waiting.slice(0, this.#together)
    if (next.length === 0) return this.#end()
    const read = await Promise.all(next.map((tipset) => this.#read(tipset)))
    for (const rows of read) {
      if (rows !== undefined) await session.complete(rows)
      this.#waiting.shift()
      this.#below = (next.shift() as IndexedTipset).height
      this.#misses = rows === undefined ? this.#misses + 1 : 0
      if (rows === undefined) this.left++
      else this.completed++
    }
    return this.#misses < MAX_MISSES || this.#end()
  }

  /** undefined: it cannot be executed here, now or later. */
  async #read({ key, height }: IndexedTipset): Promise<AppliedTipset | undefined> {
    try {
      return await this.#rows.read(this.#store.tipset(key.map(parseCid)), false)
    } catch (error) {
      if (!isOutOfReach(error)) throw error
      this.#log.debug('rows of an earlier Petrel are left as they are', { height, reason: errorMessage(error) })
      return undefined
    }
  }

  #end(): false {
    this.#isDone = true
    this.#waiting = []
    if (this.completed > 0) this.#log.info('rows of an earlier Petrel were completed', { tipsets: this.completed })
    if (this.left > 0) {
      const text =
        'rows of an earlier Petrel lack columns, and the state is not here that they follow from: fill them from an archive'
      this.#log.warn(text, { below: this.#below })
    }
    return false
  }
}
