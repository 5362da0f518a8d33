/**
 * Tipsets by height: a skip list over the chain, one pointer for every 20 epochs, filled as it is asked.
 * @see lotus chain/store/index.go ChainIndex
 */
import { Lru } from '../base/lru.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { SKIP_CACHE } from './limits.ts'

/** Epochs that one pointer spans. */
const SKIP_LENGTH = 20

function roundDown(height: ChainEpoch): ChainEpoch {
  return height - (height % SKIP_LENGTH)
}

/** Pointers between tipsets. They depend on the ancestors alone, so a reorg leaves them valid. */
export class TipsetIndex {
  readonly #parent: (tipset: Tipset) => Tipset
  readonly #skips = new Lru<string, Tipset>(SKIP_CACHE)

  /** @param parent - loads a tipset's parents */
  constructor(parent: (tipset: Tipset) => Tipset) {
    this.#parent = parent
  }

  /**
   * The lowest ancestor of `from` (or itself) at `height` or above: the next tipset where the height was a null round.
   * @param height - between 0 and `from.height`
   */
  atOrAfter(from: Tipset, height: ChainEpoch): Tipset {
    if (from.height - height <= SKIP_LENGTH) return this.#walk(from, height)
    let current = this.#walk(from, roundDown(from.height))
    for (;;) {
      const target = this.#skip(current)
      if (height === target.height) return target
      if (height > target.height) return this.#walk(current, height)
      current = target
    }
  }

  #skip(from: Tipset): Tipset {
    const key = tipsetKeyText(from.key)
    let target = this.#skips.get(key)
    if (target === undefined) {
      target = this.#computeSkip(from)
      this.#skips.set(key, target)
    }
    return target
  }

  #computeSkip(from: Tipset): Tipset {
    if (from.height === 0) return from
    const parent = this.#parent(from)
    const height = Math.max(0, roundDown(from.height) - SKIP_LENGTH)
    return parent.height < height ? parent : this.#walk(parent, height)
  }

  #walk(from: Tipset, height: ChainEpoch): Tipset {
    let current = from
    while (current.height > height) {
      const parent = this.#parent(current)
      if (parent.height < height) return current
      current = parent
    }
    return current
  }
}
