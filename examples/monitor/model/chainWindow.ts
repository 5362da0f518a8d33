/**
 * The newest part of the chain. Every tipset in it was reached from the head by hash: block CIDs are recomputed from the
 * headers that came, and a tipset whose CIDs are not its child's parents is refused.
 */
import { type ChainEpoch, equalTipsetKeys, firstBlock, type Tipset, type TipsetKey, type TokenAmount } from 'petrel'
import { MonitorError } from './errors.ts'

/** What is shown of a tipset. */
export interface TipsetView {
  readonly key: TipsetKey
  readonly parents: TipsetKey
  readonly height: ChainEpoch
  /** Unix seconds. */
  readonly timestamp: number
  /** One per block, printed. */
  readonly miners: readonly string[]
  /** AttoFIL per unit of gas that messages of this tipset pay. */
  readonly baseFee: TokenAmount
}

/** One epoch of the window; `tipset` undefined: a null round. */
export interface Epoch {
  readonly height: ChainEpoch
  readonly tipset: TipsetView | undefined
}

/** How the window moved. */
export interface WindowMove {
  /** Newest first. */
  readonly reverted: readonly TipsetView[]
  /** Oldest first. */
  readonly applied: readonly TipsetView[]
}

/** What the window asks of the node. */
export interface TipsetLoader {
  tipset(key: TipsetKey): Promise<Tipset>
  /** About so many ancestors of a tipset, newest first, the parents first of all. */
  below(child: TipsetView, count: number): Promise<readonly Tipset[]>
}

export function viewOf(tipset: Tipset, prefix: 'f' | 't'): TipsetView {
  const first = firstBlock(tipset)
  return {
    key: tipset.key,
    parents: first.parents,
    height: tipset.height,
    timestamp: first.timestamp,
    miners: tipset.blocks.map((block) => block.miner.toString(prefix)),
    baseFee: first.parentBaseFee,
  }
}

/** The tipsets that are kept, linked by hash from the head down. */
export class ChainWindow {
  readonly #load: TipsetLoader
  readonly #prefix: 'f' | 't'
  readonly #keep: number
  /** Oldest first. */
  #tipsets: TipsetView[] = []

  /** @param keep - epochs that are kept at most */
  constructor(load: TipsetLoader, prefix: 'f' | 't', keep: number) {
    this.#load = load
    this.#prefix = prefix
    this.#keep = keep
  }

  get head(): TipsetView | undefined {
    return this.#tipsets.at(-1)
  }

  /** Oldest first. */
  get tipsets(): readonly TipsetView[] {
    return this.#tipsets
  }

  /**
   * Moves to a head: loads what lies between, at least so many epochs below it, and as many below the head until now.
   * @throws MonitorError `WRONG_BLOCK`, `NOT_LINKED`: the window stays where it was
   */
  async follow(head: Tipset, depth: number): Promise<WindowMove> {
    const known = this.#indexOf(head.key)
    if (known >= 0) return this.#join(known, [])
    const floor = Math.max(head.height - this.#keep, Math.min(head.height, this.head?.height ?? head.height) - depth)
    const fresh = [viewOf(head, this.#prefix)]
    for (;;) {
      const lowest = fresh.at(-1) as TipsetView
      const joint = this.#indexOf(lowest.parents)
      if (joint >= 0 || lowest.height === 0 || lowest.height <= floor) return this.#join(joint, fresh.reverse())
      fresh.push(await this.#parentOf(lowest))
    }
  }

  /** It reaches genesis, or is as long as it gets. */
  get isWhole(): boolean {
    const oldest = this.#tipsets[0]
    const { head } = this
    return (
      oldest === undefined || head === undefined || oldest.height === 0 || oldest.height <= head.height - this.#keep
    )
  }

  /**
   * Loads about so many tipsets below the oldest.
   * @throws MonitorError `WRONG_BLOCK`, `NOT_LINKED`: what came before the wrong one stays
   */
  async extend(count: number): Promise<void> {
    const oldest = this.#tipsets[0]
    if (oldest === undefined || this.isWhole) return
    const below = await this.#load.below(oldest, count)
    // Meanwhile the window may have moved, or grown below: what came belongs to another place then.
    if (this.#tipsets[0] !== oldest) return
    for (const tipset of below) this.#tipsets.unshift(this.#linked(this.#tipsets[0] as TipsetView, tipset))
  }

  /** The newest so many epochs, newest first; null rounds between tipsets included. */
  epochs(count: number): Epoch[] {
    const out: Epoch[] = []
    for (let at = this.#tipsets.length - 1; at >= 0 && out.length < count; at--) {
      const tipset = this.#tipsets[at] as TipsetView
      const above = this.#tipsets[at + 1]
      for (let height = (above?.height ?? tipset.height + 1) - 1; height > tipset.height; height--) {
        if (out.length < count) out.push({ height, tipset: undefined })
      }
      if (out.length < count) out.push({ height: tipset.height, tipset })
    }
    return out
  }

  /** Blocks per epoch, oldest first, null rounds 0. */
  blockCounts(): number[] {
    const out: number[] = []
    for (const { height, miners } of this.#tipsets) {
      const oldest = this.#tipsets[0] as TipsetView
      while (out.length < height - oldest.height) out.push(0)
      out.push(miners.length)
    }
    return out
  }

  async #parentOf(child: TipsetView): Promise<TipsetView> {
    return this.#linked(child, await this.#load.tipset(child.parents))
  }

  #linked(child: TipsetView, parent: Tipset): TipsetView {
    if (!equalTipsetKeys(parent.key, child.parents)) {
      throw new MonitorError('WRONG_BLOCK', `what came for the parents of epoch ${child.height} has another hash`)
    }
    if (parent.height >= child.height) {
      throw new MonitorError('NOT_LINKED', `epoch ${child.height} stands on epoch ${parent.height}`)
    }
    return viewOf(parent, this.#prefix)
  }

  #indexOf(key: TipsetKey): number {
    return this.#tipsets.findLastIndex((tipset) => equalTipsetKeys(tipset.key, key))
  }

  /** @param joint - place of the last tipset that stays; -1: none */
  #join(joint: number, applied: TipsetView[]): WindowMove {
    const oldest = applied[0]
    // Nothing is known of what lies between: that is no reorganisation.
    const isBeyond = joint < 0 && oldest !== undefined && oldest.height > (this.head?.height ?? 0)
    const reverted = isBeyond ? [] : this.#tipsets.slice(joint + 1).reverse()
    this.#tipsets = [...this.#tipsets.slice(0, joint + 1), ...applied]
    const lowest = (this.head as TipsetView).height - this.#keep
    while ((this.#tipsets[0] as TipsetView).height < lowest) this.#tipsets.shift()
    return { reverted, applied }
  }
}
