/** Logs of the head's chain by height: one stretch of it without gaps, which grows with what is asked, as far as its bytes allow. */
import { MAX_SEARCHED_LOG_BYTES } from '../base/bounds.ts'
import type { Steps } from '../base/steps.ts'
import { Serial } from '../base/waiting.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { equalTipsetKeys, type Tipset, type TipsetKey } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import type { Walking } from './ethReader.ts'
import { each } from './executedTipsets.ts'
import { MAX_LOG_EPOCHS, MAX_LOG_GAP } from './limits.ts'
import { type LogJson, type SearchedLog, searchedLog } from './types/eth.ts'

/** Epochs that are read rather than waited for: as many as a client that asks again and again has missed. */
const SHORT = 60
/** Tipsets that are fetched before their turn. */
const AHEAD = 8

/** Epochs of a head's chain below that head, both inclusive. */
export interface LogRange {
  readonly head: Tipset
  readonly from: ChainEpoch
  readonly to: ChainEpoch
}

/** Is shown the logs of one tipset after the other. What it throws ends the search. */
export type ShowLogs = (logs: readonly SearchedLog[]) => void

/** A tipset that has logs. */
interface LoggedTipset {
  readonly height: ChainEpoch
  readonly logs: readonly SearchedLog[]
  readonly bytes: number
}

/** What the index reads. */
export interface LogIndexDeps {
  readonly store: Pick<ChainStore, 'parent' | 'tipset' | 'tipsetByHeight' | 'findByHeight'>
  /** Logs of an executed tipset, in order. */
  logs(tipset: Tipset, call: Walking): Promise<readonly LogJson[]>
  /** Begins to fetch what `logs` will read. Absent: all is at hand. */
  ahead?(tipset: Tipset, call: Walking): void
}

/**
 * The stretch that was looked at. Searches that share it run one after the other, each to its end on the chain of the head that it was
 * asked of; those that would leave it behind, or are short, read by themselves rather than wait or make others wait, and so does each
 * what lies below as much as is kept.
 */
export class EthLogIndex {
  readonly #deps: LogIndexDeps
  /** Tipsets with logs, lowest first. */
  #logged: LoggedTipset[] = []
  /** Of all of them. */
  #bytes = 0
  /** The lowest height, and the highest tipset, that were looked at. */
  #bottom: ChainEpoch = 0
  #top: Tipset | undefined
  readonly #searches = new Serial()
  /** Searches that run or wait. */
  #searching = 0

  constructor(deps: LogIndexDeps) {
    this.#deps = deps
  }

  /** What it takes at present, bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Shows the logs of the tipsets that have some, lowest first. */
  async between(range: LogRange, call: Walking, show: ShowLogs): Promise<void> {
    const { from, to } = range
    if (this.#covers(range)) return this.#show(this.#slice(from, to), call, show)
    // Of null rounds alone nothing is read: what a node has of the tipset below them may be in a database.
    if ((await call.walk(this.#deps.store.findByHeight(to, range.head, 'previous'))).height < from) return
    if (this.#isFarBelow(range) || (this.#searching > 0 && to - from < SHORT)) return this.#alone(range, call, show)
    const { bottom, kept } = await this.#covered(range, call)
    if (bottom > from) await this.#alone({ ...range, to: Math.min(to, bottom - 1) }, call, show)
    await this.#show(kept, call, show)
  }

  async #show(logged: readonly LoggedTipset[], call: Walking, show: ShowLogs): Promise<void> {
    await call.walk(each(logged, ({ logs }) => show(logs)))
  }

  /** What is kept of a range when its turn has come, and the height down to which that is all. */
  async #covered(
    range: LogRange,
    call: Walking,
  ): Promise<{ readonly bottom: ChainEpoch; readonly kept: readonly LoggedTipset[] }> {
    this.#searching++
    try {
      return await this.#searches.run(async () => {
        if (call.signal.aborted) throw new RpcError('CANCELLED', 'the caller has gone')
        await this.#cover(range, call)
        return { bottom: this.#bottom, kept: this.#slice(range.from, range.to) }
      })
    } finally {
      this.#searching--
    }
  }

  /** Whether everything that was asked is known, on the head's chain. */
  #covers({ head, from, to }: LogRange): boolean {
    if (this.#top === undefined || from < this.#bottom) return false
    if (!this.#isOnChain(this.#top, head)) return false
    return this.#deps.store.tipsetByHeight(to, head, 'previous').height <= this.#top.height
  }

  /** Whether one of the two follows from the other. */
  #isOnChain(tipset: Tipset, head: Tipset): boolean {
    const [low, high] = tipset.height < head.height ? [tipset, head] : [head, tipset]
    return equalTipsetKeys(this.#deps.store.tipsetByHeight(low.height, high, 'previous').key, low.key)
  }

  async #cover({ head, from, to }: LogRange, call: Walking): Promise<void> {
    const top = await call.walk(this.#deps.store.findByHeight(to, head, 'previous'))
    this.#dropOtherForks(head)
    const known = this.#top
    if (known !== undefined && (from > known.height + MAX_LOG_GAP || to < this.#bottom - MAX_LOG_GAP))
      this.#drop(known.height)
    await this.#addAbove(top, call)
    await this.#addBelow(from, call)
    this.#trim(from)
  }

  /** What is kept is near the heads that are asked about: what is far below would push it out. */
  #isFarBelow({ head, from, to }: LogRange): boolean {
    const [lowest, highest] = this.#top === undefined ? [head.height, head.height] : [this.#bottom, this.#top.height]
    return to < lowest - MAX_LOG_GAP || from < highest - MAX_LOG_EPOCHS
  }

  /** What lies on another chain than the head's. */
  #dropOtherForks(head: Tipset): void {
    while (this.#top !== undefined && !this.#isOnChain(this.#top, head)) {
      const parent = this.#deps.store.parent(this.#top)
      this.#top = parent.height < this.#bottom ? undefined : parent
    }
    const highest = this.#top?.height ?? -1
    for (let last = this.#logged.at(-1); last !== undefined && last.height > highest; last = this.#logged.at(-1)) {
      this.#bytes -= last.bytes
      this.#logged.pop()
    }
  }

  /** Of a stretch that is begun, the highest tipset: the others are read from there down, as far as there is room. */
  async #addAbove(top: Tipset, call: Walking): Promise<void> {
    const keys = await call.walk(this.#downTo(this.#top?.height ?? top.height - 1, top))
    for (const tipset of this.#inTurn(keys.reverse(), call)) {
      const logged = await this.#read(tipset, call)
      if (logged.logs.length > 0) this.#logged.push(logged)
      this.#bytes += logged.bytes
      if (this.#top === undefined) this.#bottom = tipset.height
      this.#top = tipset
      this.#fit()
    }
  }

  /** Keys of the tipsets above a height, highest first: all their headers at once would be gigabytes. */
  *#downTo(floor: ChainEpoch, top: Tipset): Steps<TipsetKey[]> {
    const out: TipsetKey[] = []
    for (let tipset = top; tipset.height > floor; tipset = this.#deps.store.parent(tipset)) {
      out.push(tipset.key)
      if (tipset.height === 0) break
      yield
    }
    return out
  }

  async #addBelow(from: ChainEpoch, call: Walking): Promise<void> {
    if (this.#bottom <= from) return
    const below = await call.walk(this.#deps.store.findByHeight(this.#bottom - 1, this.#top, 'previous'))
    const keys = await call.walk(this.#downTo(from - 1, below))
    for (const tipset of this.#inTurn(keys, call)) {
      if (this.#bytes >= MAX_SEARCHED_LOG_BYTES) return this.#fit()
      const logged = await this.#read(tipset, call)
      if (logged.logs.length > 0) this.#logged.unshift(logged)
      this.#bytes += logged.bytes
      this.#bottom = tipset.height
    }
    // Below the last one there are null rounds.
    this.#bottom = from
    this.#fit()
  }

  /** While one is read, those behind it are fetched. */
  *#inTurn(keys: readonly TipsetKey[], call: Walking): Iterable<Tipset> {
    const { store } = this.#deps
    let told = 0
    for (let i = 0; i < keys.length; i++) {
      for (; this.#deps.ahead !== undefined && told < Math.min(i + AHEAD, keys.length); told++)
        this.#deps.ahead(store.tipset(keys[told] as TipsetKey), call)
      yield store.tipset(keys[i] as TipsetKey)
    }
  }

  async #read(tipset: Tipset, call: Walking): Promise<LoggedTipset> {
    const logs: SearchedLog[] = []
    let sum = 0
    for (const printed of await this.#deps.logs(tipset, call)) {
      const { log, bytes } = searchedLog(printed)
      logs.push(log)
      sum += bytes
    }
    return { height: tipset.height, logs, bytes: sum }
  }

  /** Lets go of the lowest while there is too much. What one tipset has is kept whole. */
  #fit(): void {
    while (this.#bytes > MAX_SEARCHED_LOG_BYTES && this.#logged.length > 1) {
      this.#drop((this.#logged[0] as LoggedTipset).height)
    }
  }

  /** Up to a height. */
  #drop(highest: ChainEpoch): void {
    const gone = this.#logged.splice(0, firstAt(this.#logged, highest + 1))
    for (const { bytes } of gone) this.#bytes -= bytes
    this.#bottom = highest + 1
    if (this.#top !== undefined && this.#top.height <= highest) this.#top = undefined
  }

  /** Keeps what was just asked. */
  #trim(from: ChainEpoch): void {
    const highest = this.#top?.height ?? 0
    if (highest - this.#bottom <= MAX_LOG_EPOCHS) return
    this.#drop(Math.max(this.#bottom, Math.min(from, highest - MAX_LOG_EPOCHS / 2)) - 1)
  }

  /** Read, and not kept. */
  async #alone({ head, from, to }: LogRange, call: Walking, show: ShowLogs): Promise<void> {
    const { store } = this.#deps
    const top = await call.walk(store.findByHeight(to, head, 'previous'))
    const keys = await call.walk(this.#downTo(from - 1, top))
    for (const tipset of this.#inTurn(keys.reverse(), call)) show((await this.#read(tipset, call)).logs)
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
    if ((logged[middle] as LoggedTipset).height < height) low = middle + 1
    else high = middle
  }
  return low
}
