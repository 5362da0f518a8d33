/**
 * Valid blocks by epoch, and the heaviest tipset that can be made of those of one epoch.
 * @see lotus chain/store/store.go AddToTipSetTracker, FormHeaviestTipSetForHeight
 */
import { winsTie } from '../chain/weight.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { createTipset, type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { MAX_BLOCKS_PER_EPOCH } from './limits.ts'

/** A tipset with the weight of the chain that it ends. */
export interface WeighedTipset {
  readonly tipset: Tipset
  readonly weight: bigint
}

/** The heavier of two; of equal weight the one with the smaller ticket, else `present`. */
export function heavierOf(candidate: WeighedTipset, present: WeighedTipset): WeighedTipset {
  if (candidate.weight !== present.weight) return candidate.weight > present.weight ? candidate : present
  return winsTie(candidate.tipset, present.tipset) ? candidate : present
}

/** Valid blocks of the last epochs. */
export class TipsetTracker {
  readonly #epochs = new Map<ChainEpoch, Map<string, BlockHeader>>()

  add(header: BlockHeader): void {
    let blocks = this.#epochs.get(header.height)
    if (blocks === undefined) {
      blocks = new Map()
      this.#epochs.set(header.height, blocks)
    }
    if (blocks.size < MAX_BLOCKS_PER_EPOCH) blocks.set(headerCid(header).key, header)
  }

  addAll(tipset: Tipset): void {
    for (const block of tipset.blocks) this.add(block)
  }

  /** Forgets a block that turned out to be unwanted. */
  remove(header: BlockHeader): void {
    this.#epochs.get(header.height)?.delete(headerCid(header).key)
  }

  /** Forgets epochs below this one. */
  prune(below: ChainEpoch): void {
    for (const epoch of this.#epochs.keys()) if (epoch < below) this.#epochs.delete(epoch)
  }

  /**
   * The heaviest tipset of an epoch. A miner with two blocks there is left out altogether.
   * @param weigh - weight of a tipset's chain; may throw `BlockMissing`
   */
  heaviestAt(epoch: ChainEpoch, weigh: (tipset: Tipset) => bigint): WeighedTipset | undefined {
    let best: WeighedTipset | undefined
    for (const blocks of this.#groups(epoch)) {
      const tipset = createTipset(blocks)
      const candidate = { tipset, weight: weigh(tipset) }
      best = best === undefined ? candidate : heavierOf(candidate, best)
    }
    return best
  }

  /** Blocks of honest miners, by their parents. */
  #groups(epoch: ChainEpoch): Iterable<readonly BlockHeader[]> {
    const blocks = [...(this.#epochs.get(epoch)?.values() ?? [])]
    const perMiner = new Map<string, number>()
    for (const { miner } of blocks) perMiner.set(miner.key, (perMiner.get(miner.key) ?? 0) + 1)
    const groups = new Map<string, BlockHeader[]>()
    for (const block of blocks) {
      if (perMiner.get(block.miner.key) !== 1) continue
      const parents = tipsetKeyText(block.parents)
      const group = groups.get(parents)
      if (group === undefined) groups.set(parents, [block])
      else group.push(block)
    }
    return groups.values()
  }
}
