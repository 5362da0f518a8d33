import type { Cid } from '../codec/cid.ts'
import { type Blockstore, hasBlock } from './blockstore.ts'
import { BlockMissing } from './errors.ts'

/**
 * What a walk throws where a node is missing: the siblings that it comes to next are named with it, so that they are fetched together.
 * A list of mainnet's actors has 300,000 nodes.
 */
export function withSiblings(error: unknown, store: Blockstore, siblings: Iterable<Cid>): unknown {
  if (!(error instanceof BlockMissing)) return error
  const cids = [...error.cids]
  for (const cid of siblings) if (!hasBlock(store, cid)) cids.push(cid)
  return new BlockMissing(cids, 1)
}
