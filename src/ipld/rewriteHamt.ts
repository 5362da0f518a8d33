/** A HAMT whose keys stay while all its values may change, as in migrations: written node by node, with one path of it in memory. */
import { CborReader } from '../codec/cborReader.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, encode } from '../codec/description.ts'
import { type Blockstore, getBlock, putBlock } from './blockstore.ts'
import { decodeNode, encodeNode, isLink } from './hamtNode.ts'

const BIT_WIDTH = 5

/**
 * The root of the new tree: the keys decide its form, so that of each node stays.
 * @param root - of a tree of 5 bits a level, as those of a state are
 * @param change - a value's new one; called once for each key, in the tree's order
 * @throws BlockMissing; IpldError `INVALID_HAMT`; CodecError; what `change` throws
 */
export function rewriteHamt<V>(
  store: Blockstore,
  root: Cid,
  codec: Codec<V>,
  change: (key: Uint8Array, value: V) => V,
): Cid {
  // Not by the store's cache of nodes: a walk through all of a state would take the place of what is in use.
  const node = decodeNode(getBlock(store, root), BIT_WIDTH, false)
  for (let i = 0; i < node.slots.length; i++) {
    const slot = node.slot(i)
    if (slot === undefined) continue
    if (Array.isArray(slot)) {
      node.slots[i] = slot.map(({ key, raw }) => {
        const reader = new CborReader(raw)
        const value = codec.read(reader)
        reader.end()
        return { key, raw: encode(codec, change(key, value)), value: undefined, codec: undefined }
      })
    } else if (isLink(slot)) {
      node.slots[i] = { cid: rewriteHamt(store, slot.cid, codec, change), node: undefined }
    }
  }
  return putBlock(store, encodeNode(node, false))
}
