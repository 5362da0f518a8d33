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
/** Epochs that are read rather than waited for: as many as a client that asks again and again has missed. */
const SHORT = 60

/** A tipset that has logs. */
export interface LoggedTipset {
  readonly tipset: Tipset
  readonly logs: readonly LogJson[]
}

/** What the index reads. */
export interface LogIndexDeps {
  readonly store: Pick<ChainStore, 'parent' | 'tipsetByHeight' | 'findByHeight'>
  /** Logs of an executed tipset, in order. */
  logs(tipset: Tipset, call: Walking): Promise<readonly LogJson[]>
}

/**
 * The stretch that was looked at. Searches that share it run one after the other, each to its end on the chain of the head that it was
 * asked of; those that would leave it behind, or are short, read by themselves rather than wait or make others wait.
 */
export class EthLogIndex {
  readonly #deps: LogIndexDeps
  /** Tipsets with logs, lowest first. */
  #logged: LoggedTipset[] = []
  /** Lowest and highest tipset that were looked at. */
  #bottom: Tipset | undefined
  #top: Tipset | undefined
  readonly #searches = new Serial()
  /** Searches that run or wait. */
  #searching = 0

  constructor(deps: LogIndexDeps) {
    this.#deps = deps
  }

  /** Tipsets with logs of a head's chain between two heights, both inclusive, below the head; lowest first. */
  async between(head: Tipset, from: ChainEpoch, to: ChainEpoch, call: Walking): Promise<readonly LoggedTipset[]> {
    if (this.#covers(head, from, to)) return this.#slice(from, to)
    if (this.#isFarBelow(head, from, to) || (this.#searching > 0 && to - from < SHORT)) {
      return this.#alone(head, from, to, call)
    }
    this.#searching++
    try {
      return await this.#searches.run(async () => {
        if (call.signal.aborted) throw new RpcError('CANCELLED', 'the caller has gone')
        await this.#cover(head, from, to, call)
        return this.#slice(from, to)
      })
    } finally {
      this.#searching--
    }
  }

  /** Whether everything that was asked is known, on the head's chain. */
  #covers(head: Tipset, from: ChainEpoch, to: ChainEpoch): boolean {
    if (this.#top === undefined || this.#bottom === undefined || from < this.#bottom.height) return false
    if (!this.#isOnChain(this.#top, head)) return false
    return this.#deps.store.tipsetByHeight(to, head, 'previous').height <= this.#top.height
  }

  /** Whether one of the two follows from the other. */
  #isOnChain(tipset: Tipset, head: Tipset): boolean {
    const [low, high] = tipset.height < head.height ? [tipset, head] : [head, tipset]
    return equalTipsetKeys(this.#deps.store.tipsetByHeight(low.height, high, 'previous').key, low.key)
  }

  async #cover(head: Tipset, from: ChainEpoch, to: ChainEpoch, call: Walking): Promise<void> {
    const { store } = this.#deps
    const top = await call.walk(store.findByHeight(to, head, 'previous'))
    this.#dropOtherForks(head)
    if (this.#bottom === undefined || from > (this.#top?.height ?? 0) + MAX_GAP || to < this.#bottom.height - MAX_GAP) {
      this.#logged = []
      this.#top = undefined
      this.#bottom = undefined
    }
    await this.#addAbove(top, from, call)
    await this.#addBelow(from, call)
    this.#trim(from)
  }

  /** What is kept is near the heads that are asked about: what is far below would push it out. */
  #isFarBelow(head: Tipset, from: ChainEpoch, to: ChainEpoch): boolean {
    const lowest = this.#bottom?.height ?? head.height
    return to < lowest - MAX_GAP || from < (this.#top?.height ?? head.height) - MAX_KEPT_EPOCHS
  }

  /** What lies on another chain than the head's. */
  #dropOtherForks(head: Tipset): void {
    while (this.#top !== undefined && !this.#isOnChain(this.#top, head)) {
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
  #trim(from: ChainEpoch): void {
    const [highest, lowest] = [this.#top, this.#bottom]
    if (highest === undefined || lowest === undefined || highest.height - lowest.height <= MAX_KEPT_EPOCHS) return
    const low = Math.max(lowest.height, Math.min(from, highest.height - MAX_KEPT_EPOCHS / 2))
    this.#bottom = this.#deps.store.tipsetByHeight(low, highest, 'next')
    this.#logged = this.#logged.filter(({ tipset }) => tipset.height >= low)
  }

  /** Read, and not kept. */
  async #alone(head: Tipset, from: ChainEpoch, to: ChainEpoch, call: Walking): Promise<readonly LoggedTipset[]> {
    const { store } = this.#deps
    const top = await call.walk(store.findByHeight(to, head, 'previous'))
    const tipsets = await call.walk(this.#downTo(from - 1, top))
    const out: LoggedTipset[] = []
    for (const tipset of tipsets.reverse()) {
      const logs = await this.#deps.logs(tipset, call)
      if (logs.length > 0) out.push({ tipset, logs })
    }
    return out
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
