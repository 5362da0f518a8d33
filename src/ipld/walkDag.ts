/** Walks over everything that a block links to. */
import { type Cid, CODEC_CBOR, CODEC_DAG_CBOR, CODEC_RAW } from '../codec/cid.ts'
import { type Blockstore, getBlock } from './blockstore.ts'
import { scanLinks } from './links.ts'

/** Whether a CID names a block: not inside itself, and no sector commitment. */
export function isBlockLink(cid: Cid): boolean {
  return !cid.isIdentity && (cid.codec === CODEC_DAG_CBOR || cid.codec === CODEC_RAW || cid.codec === CODEC_CBOR)
}

/** How far a walk goes. */
export interface WalkOptions {
  /** Keys of CIDs already visited; shared between walks to visit each block once. */
  readonly seen?: Set<string>
  /** Whether to visit a link at all. Default: {@link isBlockLink}. */
  readonly follow?: (cid: Cid) => boolean
}

/**
 * Visits each block that `root` reaches once, a block before its children, children in order (depth first).
 * @throws BlockMissing when a block on the way is not in the store
 */
export function walkDag(
  store: Blockstore,
  root: Cid,
  visit: (cid: Cid, data: Uint8Array) => void,
  options: WalkOptions = {},
): void {
  const seen = options.seen ?? new Set<string>()
  const follow = options.follow ?? isBlockLink
  const stack: Cid[] = [root]
  for (let cid = stack.pop(); cid !== undefined; cid = stack.pop()) {
    if (seen.has(cid.key) || !follow(cid)) continue
    seen.add(cid.key)
    const data = getBlock(store, cid)
    visit(cid, data)
    if (cid.codec === CODEC_RAW) continue
    const links = scanLinks(data)
    for (let i = links.length - 1; i >= 0; i--) stack.push(links[i] as Cid)
  }
}
