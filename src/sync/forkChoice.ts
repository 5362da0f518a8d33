/**
 * The head: the heaviest tipset that is known to be valid, within finality and above the checkpoint.
 * @see lotus chain/store/store.go RefreshHeaviestTipSet, exceedsForkLength
 */
import type { Logger } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { EQUIVOCATION_SEARCH } from './limits.ts'
import { heavierOf, type TipsetTracker, type WeighedTipset } from './tipsetTracker.ts'

/** Synchronous; may throw `BlockMissing` before anything has changed, and is then to be called again. */
export class ForkChoice {
  readonly #view: ChainView
  readonly #tracker: TipsetTracker
  readonly #log: Logger

  constructor(view: ChainView, tracker: TipsetTracker, log: Logger) {
    this.#view = view
    this.#tracker = tracker
    this.#log = log
  }

  /**
   * Moves the head where valid blocks of an epoch make a heavier tipset, and away from blocks whose miner turned out to
   * have made two.
   * @param epoch - where a block was validated
   */
  refresh(epoch: ChainEpoch): void {
    const { store } = this.#view
    const head = store.head()
    const present = this.#weighed(head)
    const again = this.#heaviestAt(head.height)
    let best = again
    if (again === undefined || again.weight < present.weight) {
      this.#log.warn('the head has shrunk: a miner made two blocks', { height: head.height })
      best = this.#heaviestAround(head.height, again) ?? present
    }
    // Equal blocks: the head itself, not another tipset of equal weight.
    if (best === undefined || equalTipsetKeys(best.tipset.key, head.key)) best = present
    if (epoch !== best.tipset.height) {
      const other = this.#heaviestAt(epoch)
      if (other !== undefined) best = heavierOf(other, best)
    }
    this.#moveTo(best.tipset)
  }

  /** Moves the head to a valid tipset if it is heavier. @returns whether it moved */
  consider(tipset: Tipset): boolean {
    const present = this.#weighed(this.#view.store.head())
    if (heavierOf(this.#weighed(tipset), present) === present) return false
    return this.#moveTo(tipset)
  }

  /**
   * Whether the head may not go over to another tipset: their common ancestor lies too far back, or below the
   * checkpoint.
   */
  exceedsForkLength(from: Tipset, to: Tipset): boolean {
    const { store, network } = this.#view
    const checkpoint = store.checkpoint()
    let present = from
    let other = to
    for (let length = 0; length < network.protocol.chainFinality; length++) {
      while (other.height > present.height) other = store.parent(other)
      if (equalTipsetKeys(present.key, other.key)) return false
      if (checkpoint !== undefined && equalTipsetKeys(present.key, checkpoint.key)) return true
      if (present.height === 0) return true
      present = store.parent(present)
    }
    return true
  }

  #moveTo(tipset: Tipset): boolean {
    const { store } = this.#view
    const head = store.head()
    if (equalTipsetKeys(head.key, tipset.key) || this.exceedsForkLength(head, tipset)) return false
    store.setHead(tipset)
    return true
  }

  #weighed(tipset: Tipset): WeighedTipset {
    return { tipset, weight: this.#view.weight(tipset) }
  }

  #heaviestAt(epoch: ChainEpoch): WeighedTipset | undefined {
    return this.#tracker.heaviestAt(epoch, (tipset) => this.#view.weight(tipset))
  }

  #heaviestAround(epoch: ChainEpoch, start: WeighedTipset | undefined): WeighedTipset | undefined {
    let best = start
    for (let at = epoch + EQUIVOCATION_SEARCH; at > epoch - EQUIVOCATION_SEARCH; at--) {
      const other = this.#heaviestAt(at)
      if (other !== undefined && (best === undefined || other.weight > best.weight)) best = other
    }
    return best
  }
}
