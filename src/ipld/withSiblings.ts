import type { Cid } from '../codec/cid.ts'
import { type Blockstore, hasBlock } from './blockstore.ts'
import { BlockMissing } from './errors.ts'

/** Nodes that are fetched together: of a state tree 200 kB. */
const MOST_TOGETHER = 256

/**
 * What a walk throws where a node is missing: those that it comes to next are named with it, so that they are fetched together.
 * A list of mainnet's actors has 300,000 nodes.
 * @param coming - in the walk's order
 */
export function withSiblings(error: unknown, store: Blockstore, coming: Iterable<Cid>): unknown {
  if (!(error instanceof BlockMissing)) return error
  const cids = [...error.cids]
  for (const cid of coming) {
    if (cids.length >= MOST_TOGETHER) break
    if (!hasBlock(store, cid)) cids.push(cid)
  }
  return new BlockMissing(cids, 1)
}
