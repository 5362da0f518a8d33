/**
 * The blocks of a part of the chain: headers down to genesis, and between two tipsets what is asked for besides.
 * @see lotus chain/store/snapshot.go ExportRange, walkScheduler
 */

import type { Cid } from '../../codec/cid.ts'
import { CODEC_RAW } from '../../codec/cid.ts'
import { decode } from '../../codec/description.ts'
import { type Blockstore, getBlock, tryGetBlock } from '../../ipld/blockstore.ts'
import { CidSet } from '../../ipld/cidSet.ts'
import { scanLinks } from '../../ipld/links.ts'
import { isBlockLink } from '../../ipld/walkDag.ts'
import { blockHeader } from '../../types/blockHeader.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import type { Tipset } from '../../types/tipset.ts'
import type { SnapshotBlock } from './walkSnapshot.ts'

/** What is exported of the tipsets above the tail. */
export interface RangeSelection {
  /** Height of the lowest tipset; of it and of those below only headers. */
  readonly tail: ChainEpoch
  readonly messages: boolean
  /** What of them is not at hand is left out. */
  readonly receipts: boolean
  readonly stateRoots: boolean
}

/**
 * Each block once.
 * @throws BlockMissing but for receipts and actors' code
 */
export function* walkRange(
  blocks: Blockstore,
  head: Tipset,
  selection: RangeSelection,
): IterableIterator<SnapshotBlock> {
  const seen = new CidSet()
  let queue: Cid[] = [...head.key]
  while (queue.length > 0) {
    const next: Cid[] = []
    for (const cid of queue) {
      if (!seen.add(cid)) continue
      const data = getBlock(blocks, cid)
      const header = decode(blockHeader, data)
      yield [cid, data]
      if (header.height === 0) {
        for (const parent of header.parents) yield* walkTree(blocks, parent, seen, false)
        yield* walkTree(blocks, header.parentStateRoot, seen, false)
        continue
      }
      for (const parent of header.parents) next.push(parent)
      if (header.height <= selection.tail) continue
      if (selection.messages) yield* walkTree(blocks, header.messages, seen, false)
      if (selection.receipts) yield* walkTree(blocks, header.parentMessageReceipts, seen, true)
      if (selection.stateRoots) yield* walkTree(blocks, header.parentStateRoot, seen, false)
    }
    queue = next
  }
}

function* walkTree(blocks: Blockstore, root: Cid, seen: CidSet, mayLack: boolean): IterableIterator<SnapshotBlock> {
  const stack = [root]
  for (let cid = stack.pop(); cid !== undefined; cid = stack.pop()) {
    if (!isBlockLink(cid) || !seen.add(cid)) continue
    const data = mayLack || cid.codec === CODEC_RAW ? tryGetBlock(blocks, cid) : getBlock(blocks, cid)
    if (data === undefined) continue
    yield [cid, data]
    if (cid.codec !== CODEC_RAW) stack.push(...scanLinks(data))
  }
}
