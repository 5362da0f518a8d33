/**
 * Size of a tree of blocks.
 * @see lotus node/impl/full/chain.go ChainStatObj
 */
import type { Steps } from '../base/steps.ts'
import {
  type Cid,
  CODEC_CBOR,
  CODEC_DAG_CBOR,
  CODEC_FIL_COMMITMENT_SEALED,
  CODEC_FIL_COMMITMENT_UNSEALED,
} from '../codec/cid.ts'
import { type Blockstore, getBlock } from '../ipld/blockstore.ts'
import { scanLinks } from '../ipld/links.ts'

/** Of a tree of blocks: bytes, and how many blocks. */
export interface IpldStat {
  readonly size: number
  readonly links: number
}

/** Commitments to sectors are CIDs of nothing that a store has. */
function isCommitment(cid: Cid): boolean {
  return cid.codec === CODEC_FIL_COMMITMENT_SEALED || cid.codec === CODEC_FIL_COMMITMENT_UNSEALED
}

function* walk(store: Blockstore, root: Cid, seen: Set<string>): Steps<IpldStat> {
  const stack = [root]
  let size = 0
  let links = 0
  for (let cid = stack.pop(); cid !== undefined; cid = stack.pop()) {
    if (seen.has(cid.key)) continue
    seen.add(cid.key)
    if (isCommitment(cid)) continue
    const data = getBlock(store, cid)
    size += data.length
    links++
    if (cid.codec === CODEC_DAG_CBOR || cid.codec === CODEC_CBOR) stack.push(...scanLinks(data))
    yield
  }
  return { size, links }
}

/**
 * Bytes and number of the different blocks below `root`, itself included.
 * @param base - blocks of this tree are not counted
 * @throws BlockMissing
 */
export function* ipldStat(store: Blockstore, root: Cid, base: Cid | undefined): Steps<IpldStat> {
  const seen = new Set<string>()
  if (base !== undefined) yield* walk(store, base, seen)
  return yield* walk(store, root, seen)
}
