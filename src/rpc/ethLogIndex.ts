/** Logs of the head's chain by height: one stretch of it without gaps, which grows with what is asked. */
import type { Steps } from '../base/steps.ts'
import { Serial } from '../base/waiting.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import type { Walking } from './ethReader.ts'
import type { LogJson } from './types/eth.ts'

/** Most epochs that are kept: a week. */
const MAX_KEPT_EPOCHS = 20_160
/** A search that begins further above or below what is kept starts anew. */
const MAX_GAP = 2880

/** A tipset that has logs. */
export interface LoggedTipset {
  readonly tipset: Tipset
  readonly logs: readonly LogJson[]
}

/** What the index reads. */
export interface LogIndexDeps {
  readonly store: Pick<ChainStore, 'head' | 'parent' | 'tipsetByHeight' | 'findByHeight'>
  /** Logs of an executed tipset, in order. */
  logs(tipset: Tipset, call: Walking): Promise<readonly LogJson[]>
}

/** The stretch that was looked at. Searches run one after the other: they share the stretch. */
export class EthLogIndex {
  readonly #deps: LogIndexDeps
  /** Tipsets with logs, lowest first. */
  #logged: LoggedTipset[] = []
  /** Lowest and highest tipset that were looked at. */
  #bottom: Tipset | undefined
  #top: Tipset | undefined
  readonly #searches = new Serial()

  constructor(deps: LogIndexDeps) {
    this.#deps = deps
  }

  /** Tipsets with logs between two heights, both inclusive, below the head; lowest first. */
  between(from: ChainEpoch, to: ChainEpoch, call: Walking): Promise<readonly LoggedTipset[]> {
    if (this.#covers(from, to)) return Promise.resolve(this.#slice(from, to))
    return this.#searches.run(async () => {
      if (call.signal.aborted) throw new RpcError('CANCELLED', 'the caller has gone')
      await this.#cover(from, to, call)
      return this.#slice(from, to)
    })
  }

  /** Whether everything that was asked is known and still on the head's chain. */
  #covers(from: ChainEpoch, to: ChainEpoch): boolean {
    const { store } = this.#deps
    if (this.#top === undefined || this.#bottom === undefined || from < this.#bottom.height) return false
    const height = Math.max(0, Math.min(to, store.head().height - 1))
    return (
      store.tipsetByHeight(height, undefined, 'previous').height <= this.#top.height && this.#isCanonical(this.#top)
    )
  }

  #isCanonical(tipset: Tipset): boolean {
    const { store } = this.#deps
    if (tipset.height >= store.head().height) return false
    return equalTipsetKeys(store.tipsetByHeight(tipset.height, undefined, 'previous').key, tipset.key)
  }

  async #cover(from: ChainEpoch, to: ChainEpoch, call: Walking): Promise<void> {
    const { store } = this.#deps
    const head = store.head()
    const top = await call.walk(store.findByHeight(Math.max(0, Math.min(to, head.height - 1)), head, 'previous'))
    this.#dropReverted()
    if (this.#top === undefined || this.#bottom === undefined || this.#isFar(from, top.height)) {
      this.#logged = []
      this.#top = undefined
      this.#bottom = undefined
    }
    await this.#addAbove(top, from, call)
    await this.#addBelow(from, call)
    this.#trim(from, top.height)
  }

  #isFar(from: ChainEpoch, top: ChainEpoch): boolean {
    const bottom = this.#bottom?.height ?? 0
    const highest = this.#top?.height ?? 0
    return from > highest + MAX_GAP || top < bottom - MAX_GAP
  }

  /** What a new head left aside. */
  #dropReverted(): void {
    while (this.#top !== undefined && !this.#isCanonical(this.#top)) {
      const isLast = this.#bottom === undefined || this.#top.height <= this.#bottom.height
      this.#top = isLast ? undefined : this.#deps.store.parent(this.#top)
    }
    const highest = this.#top?.height ?? -1
    if (this.#top === undefined) this.#bottom = undefined
    this.#logged = this.#logged.filter(({ tipset }) => tipset.height <= highest)
  }

  async #addAbove(top: Tipset, from: ChainEpoch, call: Walking): Promise<void> {
    const missing = await call.walk(this.#downTo(this.#top?.height ?? from - 1, top))
    for (const tipset of missing.reverse()) {
      const logs = await this.#deps.logs(tipset, call)
      if (logs.length > 0) this.#logged.push({ tipset, logs })
      this.#bottom ??= tipset
      this.#top = tipset
    }
  }

  *#downTo(floor: ChainEpoch, top: Tipset): Steps<Tipset[]> {
    const out: Tipset[] = []
    for (let tipset = top; tipset.height > floor; tipset = this.#deps.store.parent(tipset)) {
      out.push(tipset)
      if (tipset.height === 0) break
      yield
    }
    return out
  }

  async #addBelow(from: ChainEpoch, call: Walking): Promise<void> {
    const { store } = this.#deps
    while (this.#bottom !== undefined && this.#bottom.height > from && this.#bottom.height > 0) {
      const tipset = store.parent(this.#bottom)
      const logs = await this.#deps.logs(tipset, call)
      if (logs.length > 0) this.#logged.unshift({ tipset, logs })
      this.#bottom = tipset
    }
  }

  /** Keeps what was just asked. */
  #trim(from: ChainEpoch, top: ChainEpoch): void {
    const highest = this.#top
    if (highest === undefined || this.#bottom === undefined) return
    if (highest.height - this.#bottom.height <= MAX_KEPT_EPOCHS) return
    const { store } = this.#deps
    if (from > this.#bottom.height + MAX_KEPT_EPOCHS / 2) this.#bottom = store.tipsetByHeight(from, highest, 'next')
    else this.#top = store.tipsetByHeight(top, highest, 'previous')
    const [low, high] = [this.#bottom.height, this.#top?.height ?? 0]
    this.#logged = this.#logged.filter(({ tipset }) => tipset.height >= low && tipset.height <= high)
  }

  #slice(from: ChainEpoch, to: ChainEpoch): readonly LoggedTipset[] {
    const start = firstAt(this.#logged, from)
    return this.#logged.slice(start, firstAt(this.#logged, to + 1))
  }
}

/** Index of the first at or above a height. */
function firstAt(logged: readonly LoggedTipset[], height: ChainEpoch): number {
  let low = 0
  let high = logged.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((logged[middle] as LoggedTipset).tipset.height < height) low = middle + 1
    else high = middle
  }
  return low
}
