/** Reads of many blocks that do not depend on each other. */
import type { Pace } from '../base/pace.ts'
import type { Cid } from '../codec/cid.ts'
import { BlockMissing } from './errors.ts'

/** What reads lack, gathered. */
class Lack {
  readonly #cids: Cid[] = []

  /** @returns undefined: something is missing */
  read<Out>(run: () => Out): Out | undefined {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      this.#cids.push(...error.cids)
      return undefined
    }
  }

  /** @throws BlockMissing */
  assertNone(): void {
    if (this.#cids.length > 0) throw new BlockMissing(this.#cids)
  }
}

/**
 * Reads something of every item.
 * @throws BlockMissing with what all of them lack, so that it is fetched at once and not one round trip after the other
 */
export function readTogether<Item, Out>(items: readonly Item[], read: (item: Item) => Out): Out[] {
  const lack = new Lack()
  const out = items.map((item) => lack.read(() => read(item)))
  lack.assertNone()
  return out as Out[]
}

/**
 * The same for what takes long to read: others have the event loop in between.
 * @throws BlockMissing as {@link readTogether}; whatever else `read` throws
 */
export async function readTogetherPaced<Item>(
  items: readonly Item[],
  read: (item: Item) => unknown,
  pace: Pace,
): Promise<void> {
  const lack = new Lack()
  for (const item of items) {
    if (pace.isDue) await pace.pause()
    lack.read(() => read(item))
  }
  lack.assertNone()
}
