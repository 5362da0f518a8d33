/** Reads of many blocks that do not depend on each other. */
import type { Pace } from '../base/pace.ts'
import type { Cid } from '../codec/cid.ts'
import { BlockMissing } from './errors.ts'

/**
 * Reads something of every item.
 * @throws BlockMissing with what all of them lack, so that it is fetched at once and not one round trip after the other
 */
export function readTogether<Item, Out>(items: readonly Item[], read: (item: Item) => Out): Out[] {
  const missing: Cid[] = []
  const out: Out[] = []
  for (const item of items) {
    try {
      out.push(read(item))
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      missing.push(...error.cids)
    }
  }
  if (missing.length > 0) throw new BlockMissing(missing)
  return out
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
  const missing: Cid[] = []
  for (const item of items) {
    if (pace.isDue) await pace.pause()
    try {
      read(item)
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      missing.push(...error.cids)
    }
  }
  if (missing.length > 0) throw new BlockMissing(missing)
}
