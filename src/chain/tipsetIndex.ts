/**
 * Tipsets by height: a skip list over the chain, one pointer for every 20 epochs, filled as it is asked. Of a chain of years those of
 * some months are kept, and one for every 1,280 epochs of all of it: what lies far back is walked to once, and near at hand then.
 * @see lotus chain/store/index.go ChainIndex
 */
import { fromLatin1 } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import type { Steps } from '../base/steps.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { type Tipset, type TipsetKey, tipsetKeyFromBytes, tipsetKeyText } from '../types/tipset.ts'
import { LEAP_CACHE_BYTES, SKIP_CACHE_BYTES } from './limits.ts'

/** Epochs that one pointer spans. */
const SKIP_LENGTH = 20
/** Epochs that one of the pointers spans that are kept for a whole chain. */
const LEAP_LENGTH = 1280

function roundDown(height: ChainEpoch): ChainEpoch {
  return height - (height % SKIP_LENGTH)
}

/** A tipset by its name: pointers over a whole chain must hold neither its headers nor CIDs, which take ten times their bytes. */
interface Pointer {
  readonly text: string
  readonly height: ChainEpoch
  /** Of the first one asked about, which need not be in the store. */
  readonly tipset?: Tipset
}

/** What a pointer takes beside two texts as long as its own, bytes. */
const POINTER_BYTES = 150

function bytesOf({ text }: Pointer): number {
  return POINTER_BYTES + 2 * text.length
}

function stretchOf({ height }: Pointer): number {
  return Math.floor(height / LEAP_LENGTH)
}

/** Bytes of pointers over 20 and over 1,280 epochs. */
interface Kept {
  readonly skipBytes: number
  readonly leapBytes: number
}

/** Pointers between tipsets. They depend on the ancestors alone, so a reorg leaves them valid. */
export class TipsetIndex {
  readonly #parent: (tipset: Tipset) => Tipset
  readonly #load: (key: TipsetKey) => Tipset
  readonly #skips: Lru<string, Pointer>
  /** From the last pointer of one stretch of epochs to that of the next one below it. */
  readonly #leaps: Lru<string, Pointer>

  /** @param parent - loads a tipset's parents */
  constructor(
    parent: (tipset: Tipset) => Tipset,
    load: (key: TipsetKey) => Tipset,
    kept: Kept = { skipBytes: SKIP_CACHE_BYTES, leapBytes: LEAP_CACHE_BYTES },
  ) {
    this.#parent = parent
    this.#load = load
    this.#skips = new Lru(kept.skipBytes, bytesOf)
    this.#leaps = new Lru(kept.leapBytes, bytesOf)
  }

  /**
   * The lowest ancestor of `from` (or itself) at `height` or above: the next tipset where the height was a null round.
   * @param height - between 0 and `from.height`
   */
  *atOrAfter(from: Tipset, height: ChainEpoch): Steps<Tipset> {
    if (from.height - height <= SKIP_LENGTH) return this.#walk(from, height)
    const start = this.#walk(from, roundDown(from.height))
    let current: Pointer = { text: tipsetKeyText(start.key), height: start.height, tipset: start }
    let last: Pointer | undefined
    for (;;) {
      const leap = this.#leaps.get(current.text)
      if (leap !== undefined && leap.height >= height) {
        current = leap
        last = undefined
        yield
        continue
      }
      const target = this.#skip(current)
      if (stretchOf(target) !== stretchOf(current)) {
        if (last !== undefined) this.#leaps.set(last.text, current)
        last = current
      }
      if (height === target.height) return this.#loaded(target)
      if (height > target.height) return this.#walk(this.#loaded(current), height)
      current = target
      yield
    }
  }

  #skip(from: Pointer): Pointer {
    let target = this.#skips.get(from.text)
    if (target === undefined) {
      const { key, height } = this.#computeSkip(this.#loaded(from))
      target = { text: tipsetKeyText(key), height }
      this.#skips.set(from.text, target)
    }
    return target
  }

  #loaded({ text, tipset }: Pointer): Tipset {
    return tipset ?? this.#load(tipsetKeyFromBytes(fromLatin1(text)))
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
