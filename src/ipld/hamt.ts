/**
 * HAMT: a map from byte strings to values in a tree of blocks. Keys are spread by SHA-256, read from the top
 * `bitWidth` bits a level; a slot holds up to three entries before it becomes a node of its own. The form is canonical:
 * equal contents have equal roots, whatever the order of writes.
 *
 * Node: [bit field as big-endian bytes without leading zeros, pointers in slot order]; a pointer is a link, or a bucket
 * of 1 to 3 [key, value] sorted by key. Before actors v3 a pointer was a map of one entry, "0" link or "1" bucket.
 *
 * @see ref-fvm ipld/hamt/src/node.rs Node, pointer.rs Pointer::clean; go-hamt-ipld hamt.go
 */
import { compareBytes, equalBytes } from '../base/bytes.ts'
import { CborReader } from '../codec/cborReader.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, encode } from '../codec/description.ts'
import { sha256 } from '../crypto/hashes.ts'
import { type Blockstore, getBlock, putBlock } from './blockstore.ts'
import { IpldError } from './errors.ts'
import { eachFound, type Found, present } from './found.ts'
import {
  assertDepth,
  BUCKET_SIZE,
  collapsed,
  collect,
  decodeNode,
  encodeNode,
  type HamtEntry,
  type HamtLink,
  HamtNode,
  type HamtSlot,
  invalid,
  isLink,
  linksFrom,
  sameLink,
  slotIndex,
} from './hamtNode.ts'
import { type HamtReads, walked, walkHamt } from './hamtWalk.ts'
import { type WalkBudget, walkBudget } from './nodeCache.ts'

const DEFAULT_BIT_WIDTH = 5
const MAX_BIT_WIDTH = 8

/** How a tree is laid out. */
export interface HamtOptions {
  /** Bits of the hash read per level, 1 to 8. Default 5. */
  readonly bitWidth?: number
  /** The form of pointers before actors v3: a map of one entry. */
  readonly pointerMaps?: boolean
  /** What reads of this tree may put into the cache together with others: of a walk through many small trees. Default: all of it. */
  readonly budget?: WalkBudget
}

/** A key whose values differ. */
export type Difference<V> = readonly [key: Uint8Array, here: V | undefined, there: V | undefined]

/** A part of sorted hashes: those that lead to one node. */
interface HashRange {
  readonly hashes: readonly Uint8Array[]
  readonly from: number
  readonly to: number
}

/** Hashes of keys, in the tree's order. */
export function hashesOf(keys: Iterable<Uint8Array>): Uint8Array[] {
  return Array.from(keys, sha256).sort(compareBytes)
}

/**
 * A tree over a store. Reads decode only the nodes on the way; writes stay in memory until {@link Hamt.flush}.
 * Keys and values that are returned are views of blocks.
 */
export class Hamt<V> {
  readonly #store: Blockstore
  readonly #codec: Codec<V>
  readonly #bitWidth: number
  readonly #pointerMaps: boolean
  readonly #format: string
  readonly #budget: WalkBudget | undefined
  #root: HamtNode
  #rootCid: Cid | undefined
  /** Identity of this tree's own nodes; a new one after each flush, which shares them. */
  #token: object = {}

  private constructor(store: Blockstore, codec: Codec<V>, options: HamtOptions, cid: Cid | undefined) {
    const bitWidth = options.bitWidth ?? DEFAULT_BIT_WIDTH
    if (bitWidth < 1 || bitWidth > MAX_BIT_WIDTH) throw invalid(`HAMT bit width ${bitWidth} is not between 1 and 8`)
    this.#store = store
    this.#codec = codec
    this.#bitWidth = bitWidth
    this.#pointerMaps = options.pointerMaps ?? false
    // The same block may be read under several layouts (an empty node has equal bytes in all of them).
    this.#format = `h${bitWidth}${this.#pointerMaps ? 'm' : ''}`
    this.#budget = options.budget
    this.#rootCid = cid
    this.#root =
      cid === undefined
        ? new HamtNode(new Array<HamtSlot>(1 << bitWidth).fill(undefined), this.#token)
        : this.#node({ cid, node: undefined })
  }

  /** A tree without entries. */
  static empty<V>(store: Blockstore, codec: Codec<V>, options: HamtOptions = {}): Hamt<V> {
    return new Hamt(store, codec, options, undefined)
  }

  /**
   * The tree with this root.
   * @throws BlockMissing; IpldError `INVALID_HAMT`; CodecError
   */
  static load<V>(store: Blockstore, root: Cid, codec: Codec<V>, options: HamtOptions = {}): Hamt<V> {
    return new Hamt(store, codec, options, root)
  }

  /** @param budget - of a walk that comes to it; undefined: it is kept */
  #node(link: HamtLink, budget: WalkBudget | undefined = this.#budget): HamtNode {
    if (link.node !== undefined) return link.node
    const { nodes } = this.#store
    if (nodes === undefined) {
      const node = decodeNode(getBlock(this.#store, link.cid), this.#bitWidth, this.#pointerMaps)
      link.node = node
      return node
    }
    const isKept = budget === undefined || budget.left-- > 0
    const key = this.#format + link.cid.key
    const known = nodes.get(key)
    if (known !== undefined) return known as HamtNode
    const block = getBlock(this.#store, link.cid)
    const node = decodeNode(block, this.#bitWidth, this.#pointerMaps)
    if (isKept) nodes.set(key, node, block.length)
    return node
  }

  #value(entry: HamtEntry): V {
    if (entry.codec === this.#codec) return entry.value as V
    const reader = new CborReader(entry.raw)
    const value = this.#codec.read(reader)
    reader.end()
    entry.value = value
    entry.codec = this.#codec
    return value
  }

  #entry(key: Uint8Array, hash: Uint8Array): HamtEntry | undefined {
    let node = this.#root
    for (let depth = 0; ; depth++) {
      const slot = node.slot(slotIndex(hash, depth, this.#bitWidth))
      if (slot === undefined) return undefined
      if (Array.isArray(slot)) {
        for (let i = 0; i < slot.length; i++) {
          const entry = slot[i] as HamtEntry
          if (equalBytes(entry.key, key)) return entry
        }
        return undefined
      }
      node = isLink(slot) ? this.#node(slot) : slot
    }
  }

  /** The value of a key, decoded once and then the same object. */
  get(key: Uint8Array): V | undefined {
    const entry = this.#entry(key, sha256(key))
    return entry === undefined ? undefined : this.#value(entry)
  }

  has(key: Uint8Array): boolean {
    return this.#entry(key, sha256(key)) !== undefined
  }

  /** Whether there is no entry at all. */
  get isEmpty(): boolean {
    return this.#root.slots.every((slot) => slot === undefined)
  }

  #own(node: HamtNode): HamtNode {
    return node.owner === this.#token ? node : new HamtNode(node.slots.slice(), this.#token, node.block)
  }

  #ownRoot(): HamtNode {
    this.#root = this.#own(this.#root)
    return this.#root
  }

  /** The child at a slot as a node of this tree's own, put into `parent`. */
  #ownChild(parent: HamtNode, index: number, slot: HamtNode | HamtLink): HamtNode {
    const child = this.#own(isLink(slot) ? this.#node(slot) : slot)
    parent.slots[index] = child
    return child
  }

  /** Sets the value of a key. The same value again changes nothing. `key` is kept, not copied. */
  set(key: Uint8Array, value: V): void {
    const raw = encode(this.#codec, value)
    const hash = sha256(key)
    const known = this.#entry(key, hash)
    if (known !== undefined && equalBytes(known.raw, raw)) return
    this.#insert(this.#ownRoot(), hash, 0, { key, raw, value, codec: this.#codec })
    this.#rootCid = undefined
  }

  #insert(root: HamtNode, hash: Uint8Array, start: number, entry: HamtEntry): void {
    let node = root
    for (let depth = start; ; depth++) {
      const index = slotIndex(hash, depth, this.#bitWidth)
      const slot = node.slot(index)
      if (slot === undefined) {
        node.slots[index] = [entry]
        return
      }
      if (Array.isArray(slot)) {
        let at = 0
        while (at < slot.length && compareBytes((slot[at] as HamtEntry).key, entry.key) < 0) at++
        const present = slot[at]
        if (present !== undefined && equalBytes(present.key, entry.key)) {
          node.slots[index] = [...slot.slice(0, at), entry, ...slot.slice(at + 1)]
          return
        }
        if (slot.length < BUCKET_SIZE) {
          node.slots[index] = [...slot.slice(0, at), entry, ...slot.slice(at)]
          return
        }
        const child = new HamtNode(new Array<HamtSlot>(1 << this.#bitWidth).fill(undefined), this.#token)
        for (let i = 0; i < slot.length; i++) {
          const moved = slot[i] as HamtEntry
          this.#insert(child, sha256(moved.key), depth + 1, moved)
        }
        node.slots[index] = child
        node = child
        continue
      }
      node = this.#ownChild(node, index, slot)
    }
  }

  /** Removes a key. @returns whether it was there */
  delete(key: Uint8Array): boolean {
    const hash = sha256(key)
    if (this.#entry(key, hash) === undefined) return false
    this.#remove(this.#ownRoot(), hash, 0, key)
    this.#rootCid = undefined
    return true
  }

  #remove(node: HamtNode, hash: Uint8Array, depth: number, key: Uint8Array): void {
    const index = slotIndex(hash, depth, this.#bitWidth)
    const slot = node.slot(index)
    if (slot === undefined) return
    if (Array.isArray(slot)) {
      const rest = slot.filter((entry) => !equalBytes(entry.key, key))
      node.slots[index] = rest.length === 0 ? undefined : rest
      return
    }
    const child = this.#ownChild(node, index, slot)
    this.#remove(child, hash, depth + 1, key)
    const bucket = collapsed(child)
    if (bucket !== undefined) node.slots[index] = bucket.length === 0 ? undefined : bucket
  }

  /** Writes the changed nodes, children first, and returns the root. */
  flush(): Cid {
    if (this.#rootCid !== undefined) return this.#rootCid
    this.#rootCid = this.#write(this.#root)
    this.#token = {}
    return this.#rootCid
  }

  #write(node: HamtNode): Cid {
    const { slots } = node
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]
      if (typeof slot !== 'object' || Array.isArray(slot) || isLink(slot)) continue
      const cid = this.#write(slot)
      slots[i] = { cid, node: this.#store.nodes === undefined ? slot : undefined }
    }
    const block = encodeNode(node, this.#pointerMaps)
    const cid = putBlock(this.#store, block)
    node.owner = undefined
    this.#store.nodes?.set(this.#format + cid.key, node, block.length)
    return cid
  }

  /** All entries in the tree's order (by hash, then by key in a bucket), as the references iterate. */
  entries(): IterableIterator<[Uint8Array, V]> {
    return present(this.found())
  }

  /** {@link entries}, where nodes may be elsewhere. */
  found(): Found<[Uint8Array, V]> {
    return eachFound(this.#walk(), (entry) => [entry.key, this.#value(entry)])
  }

  /** The keys in the order of {@link Hamt.found}; no value is decoded. */
  keys(): Found<Uint8Array> {
    return eachFound(this.#walk(), ({ key }) => key)
  }

  #walk(): Found<HamtEntry> {
    return walkHamt(this.#root, this.#reads(this.#budget ?? walkBudget()))
  }

  #reads(budget: WalkBudget | undefined): HamtReads {
    return {
      store: this.#store,
      node: (link) => this.#node(link, budget),
      decode: (block) => decodeNode(block, this.#bitWidth, this.#pointerMaps),
    }
  }

  /** Calls back for each entry, in the order of {@link Hamt.entries}; cheaper than the iterator in hot paths. */
  forEach(visit: (key: Uint8Array, value: V) => void): void {
    this.#each(this.#root, this.#reads(this.#budget), 0, visit)
  }

  #each(node: HamtNode, reads: HamtReads, depth: number, visit: (key: Uint8Array, value: V) => void): void {
    assertDepth(depth, this.#bitWidth)
    for (let i = 0; i < node.slots.length; i++) {
      const slot = node.slot(i)
      if (slot === undefined) continue
      if (Array.isArray(slot)) {
        for (let j = 0; j < slot.length; j++) {
          const entry = slot[j] as HamtEntry
          visit(entry.key, this.#value(entry))
        }
      } else {
        const below = walked(slot, reads, () => linksFrom(node, i + 1))
        this.#each(below, reads, depth + 1, visit)
      }
    }
  }

  /**
   * Keys whose values differ between two trees of one layout; equal subtrees are not read.
   * @param among - {@link hashesOf} the keys that matter: subtrees without any of them are not read either. Keys beside them may
   * be told, too. Default: all
   * @returns key, value here and value in `other`, undefined where the key is absent; undefined after two equal slots
   * @throws while it is walked, what {@link Hamt.load} throws; IpldError `MAX_DEPTH` for nodes that no key leads to
   */
  diff(other: Hamt<V>, among?: readonly Uint8Array[]): IterableIterator<Difference<V> | undefined> {
    if (this.#format !== other.#format)
      throw new IpldError('NOT_SUPPORTED', 'not supported: comparing HAMTs of two layouts')
    const part = among === undefined ? undefined : { hashes: among, from: 0, to: among.length }
    return this.#diffSlots(this.#root, other, other.#root, part, 0)
  }

  *#diffSlots(
    here: HamtNode,
    other: Hamt<V>,
    there: HamtNode,
    among: HashRange | undefined,
    depth: number,
  ): IterableIterator<Difference<V> | undefined> {
    if (here === there) return
    assertDepth(depth, this.#bitWidth)
    let end = among?.from ?? 0
    for (let i = 0; i < here.slots.length; i++) {
      let below: HashRange | undefined
      if (among !== undefined) {
        const { hashes, to } = among
        const from = end
        while (end < to && slotIndex(hashes[end] as Uint8Array, depth, this.#bitWidth) === i) end++
        if (end === from) continue
        below = { hashes, from, to: end }
      }
      if (sameLink(here, there, i)) continue
      const a = here.slot(i)
      const b = there.slot(i)
      if (a === undefined && b === undefined) continue
      const aNode = a !== undefined && !Array.isArray(a)
      const bNode = b !== undefined && !Array.isArray(b)
      if (aNode && bNode) {
        if (isLink(a) && isLink(b) && a.cid.equals(b.cid)) continue
        yield* this.#diffSlots(isLink(a) ? this.#node(a) : a, other, isLink(b) ? other.#node(b) : b, below, depth + 1)
        continue
      }
      const left: HamtEntry[] = []
      const right: HamtEntry[] = []
      const loadOf =
        (tree: Hamt<V>) =>
        (link: HamtLink, levels: number): HamtNode => {
          assertDepth(depth + levels, this.#bitWidth)
          return tree.#node(link)
        }
      collect(a, left, loadOf(this))
      collect(b, right, loadOf(other))
      for (const old of left) {
        const match = right.find((entry) => equalBytes(entry.key, old.key))
        if (match === undefined) yield [old.key, this.#value(old), undefined]
        else if (!equalBytes(match.raw, old.raw)) yield [old.key, this.#value(old), other.#value(match)]
      }
      for (const fresh of right) {
        if (!left.some((entry) => equalBytes(entry.key, fresh.key))) yield [fresh.key, undefined, other.#value(fresh)]
      }
      yield undefined
    }
  }
}
