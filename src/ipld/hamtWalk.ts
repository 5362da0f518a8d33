/** A walk over all of a HAMT, whose nodes may be elsewhere. */
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from './blockstore.ts'
import { type Found, reading } from './found.ts'
import { type HamtEntry, type HamtLink, type HamtNode, isLink, linksFrom } from './hamtNode.ts'
import { withSiblings } from './withSiblings.ts'

/** How a walk comes to nodes. */
export interface HamtReads {
  readonly store: Blockstore
  /** @throws BlockMissing */
  node(link: HamtLink): HamtNode
  decode(block: Uint8Array): HamtNode
}

/** Where a walk stands on a level: in which node, before which slot. */
interface Level {
  readonly node: HamtNode
  next: number
}

/** On a stack of its own: nested generators would hand each entry through as many as the tree is deep. */
export function* walkHamt(root: HamtNode, reads: HamtReads): Found<HamtEntry> {
  const way: Level[] = [{ node: root, next: 0 }]
  const coming = (): Iterable<Cid> => comingOf(way, reads)
  for (let last = way[0]; last !== undefined; last = way.at(-1)) {
    if (last.next === last.node.slots.length) {
      way.pop()
      continue
    }
    const slot = last.node.slot(last.next++)
    if (slot === undefined) continue
    if (Array.isArray(slot)) yield* slot
    else way.push({ node: yield* reading(() => walked(slot, reads, coming)), next: 0 })
  }
}

/** A node that a walk comes to. @param coming - what it comes to next */
export function walked(slot: HamtLink | HamtNode, reads: HamtReads, coming: () => Iterable<Cid>): HamtNode {
  if (!isLink(slot)) return slot
  try {
    return reads.node(slot)
  } catch (error) {
    throw withSiblings(error, reads.store, coming())
  }
}

/** Behind where a walk stands: its node's links, then those of the nodes behind that one which are here. */
function* comingOf(way: readonly Level[], { store, decode }: HamtReads): Iterable<Cid> {
  const [above, last] = [way.at(-2), way.at(-1)]
  if (last !== undefined) yield* linksFrom(last.node, last.next)
  if (above === undefined) return
  for (const cid of linksFrom(above.node, above.next)) {
    const block = store.get(cid)
    if (block === undefined) yield cid
    else yield* linksFrom(decode(block), 0)
  }
}
