/**
 * The blocks of a snapshot in the order in which Lotus writes them, one at a time.
 * @see lotus chain/store/snapshot.go WalkSnapshot, recurseLinks
 */
import { type Cid, CODEC_DAG_CBOR, CODEC_RAW } from '../../codec/cid.ts'
import { decode } from '../../codec/description.ts'
import { type Blockstore, getBlock, tryGetBlock } from '../../ipld/blockstore.ts'
import { CidSet } from '../../ipld/cidSet.ts'
import { scanLinks } from '../../ipld/links.ts'
import { isBlockLink } from '../../ipld/walkDag.ts'
import { blockHeader } from '../../types/blockHeader.ts'
import type { Tipset } from '../../types/tipset.ts'

/** What a snapshot holds besides all headers. */
export interface SnapshotSelection {
  /** State of the headers above head - this number of epochs; that of genesis is always in. */
  readonly recentStateRoots: number
  /** Messages only of those headers too; otherwise of all. */
  readonly skipOldMessages: boolean
}

/** One block of a snapshot. */
export type SnapshotBlock = readonly [Cid, Uint8Array]

/** State of a walk, for progress. */
export interface SnapshotProgress {
  /** Lowest height whose header was written. */
  height: number
  blocks: number
  /** Code of actors that is not at hand and was left out: a node that runs native actors has none. */
  leftOut: number
}

/** The state of a walk that begins at a tipset. */
export function snapshotProgress(head: Tipset): SnapshotProgress {
  return { height: head.height, blocks: 0, leftOut: 0 }
}

/**
 * All blocks of the snapshot of `head`, each once. Holds one set of CIDs and, of each tree, the path that it is on.
 * @param progress - updated as the walk goes
 * @throws BlockMissing when the store lacks a block that belongs in it, unless it is an actor's code (the only raw
 *   blocks of a chain); CodecError for a header that is none
 */
export function* walkSnapshot(
  blocks: Blockstore,
  head: Tipset,
  selection: SnapshotSelection,
  progress: SnapshotProgress = snapshotProgress(head),
): IterableIterator<SnapshotBlock> {
  const headers = new CidSet()
  const trees = new CidSet()
  const lowest = head.height - selection.recentStateRoots
  // Two arrays instead of one that is shifted: the queue of headers is some ten tipsets long at most.
  let queue: Cid[] = [...head.key]
  while (queue.length > 0) {
    const next: Cid[] = []
    for (const cid of queue) {
      if (!headers.add(cid)) continue
      const data = getBlock(blocks, cid)
      const header = decode(blockHeader, data)
      if (header.height < progress.height) progress.height = header.height
      progress.blocks++
      yield [cid, data]
      const isRecent = header.height > lowest
      if (!selection.skipOldMessages || isRecent) yield* walkTree(blocks, header.messages, headers, trees, progress)
      if (header.height > 0) {
        for (const parent of header.parents) next.push(parent)
      } else {
        // The block that genesis names as its parent belongs to the file; it is no header.
        for (const parent of header.parents) {
          if (!headers.add(parent) || !isBlockLink(parent)) continue
          progress.blocks++
          yield [parent, getBlock(blocks, parent)]
        }
      }
      if (isRecent || header.height === 0) yield* walkTree(blocks, header.parentStateRoot, headers, trees, progress)
    }
    queue = next
  }
}

/** A tree, node before its links, links in order, without what was written before. */
function* walkTree(
  blocks: Blockstore,
  root: Cid,
  headers: CidSet,
  walked: CidSet,
  progress: SnapshotProgress,
): IterableIterator<SnapshotBlock> {
  const stack: Cid[] = [root]
  for (let cid = stack.pop(); cid !== undefined; cid = stack.pop()) {
    if (!isBlockLink(cid) || !walked.add(cid)) continue
    const data = cid.codec === CODEC_RAW ? tryGetBlock(blocks, cid) : getBlock(blocks, cid)
    if (data === undefined) {
      progress.leftOut++
      continue
    }
    if (!headers.has(cid)) {
      progress.blocks++
      yield [cid, data]
    }
    if (cid.codec !== CODEC_DAG_CBOR) continue
    const links = scanLinks(data)
    for (let i = links.length - 1; i >= 0; i--) stack.push(links[i] as Cid)
  }
}
