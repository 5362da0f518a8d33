/**
 * AMT: an array of values by index in a tree of blocks.
 *
 * Two roots: v0 [height, count, node], width 8 for ever (messages, receipts, state before actors v3), and
 * v3 [bit width, height, count, node] (state from actors v3 on, events). Node: [bitmap, links, values]; entry i is
 * bit i & 7 of byte i >> 3; links above, values only at height 0.
 *
 * @see ref-fvm ipld/amt/src/amt.rs AmtImpl, node.rs Node; go-amt-ipld v2, v4 amt.go
 */
import { equalBytes } from '../base/bytes.ts'
import { CborReader } from '../codec/cborReader.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, encode } from '../codec/description.ts'
import {
  type AmtItem,
  type AmtLink,
  AmtNode,
  DEFAULT_BIT_WIDTH,
  EMPTY_NODE,
  invalid,
  isEmptyNode,
  isLink,
  leafValues,
  linksAfter,
  loadRoot,
  nodeFormat,
  putNode,
  putRoot,
  readNode,
} from './amtNode.ts'
import { type Blockstore, getBlock } from './blockstore.ts'
import { IpldError } from './errors.ts'
import { type Found, present, reading } from './found.ts'
import { type WalkBudget, walkBudget } from './nodeCache.ts'
import type { WideNumber } from './wideNumber.ts'
import { withSiblings } from './withSiblings.ts'

/** How a tree is laid out. */
export interface AmtOptions {
  /** The root of v0: three fields, width 8. */
  readonly v0?: boolean
  /** Bit width of a new tree, 1 to 18, default 3; when a tree is loaded: what its root must say. */
  readonly bitWidth?: number
}

/**
 * A tree over a store. Reads decode only the nodes on the way; writes stay in memory until {@link Amt.flush}. Values
 * that are returned are views of blocks. Of indices above 2^53-1 only {@link Amt.get} knows; walks give them rounded.
 */
export class Amt<V> {
  readonly #store: Blockstore
  readonly #codec: Codec<V>
  readonly #v0: boolean
  readonly #bitWidth: number
  readonly #format: string
  #height: number
  #count: number
  #root: AmtNode
  #rootCid: Cid | undefined
  #token: object = {}

  private constructor(store: Blockstore, codec: Codec<V>, options: AmtOptions, cid: Cid | undefined) {
    this.#store = store
    this.#codec = codec
    this.#v0 = options.v0 ?? false
    this.#rootCid = cid
    if (cid === undefined) {
      this.#bitWidth = this.#v0 ? DEFAULT_BIT_WIDTH : (options.bitWidth ?? DEFAULT_BIT_WIDTH)
      this.#height = 0
      this.#count = 0
      this.#root = new AmtNode(undefined, new Array<undefined>(2 ** this.#bitWidth).fill(undefined), this.#token)
    } else {
      const root = loadRoot(store, cid, this.#v0)
      if (options.bitWidth !== undefined && root.bitWidth !== options.bitWidth) {
        throw invalid(`AMT has bit width ${root.bitWidth}, expected ${options.bitWidth}`)
      }
      this.#bitWidth = root.bitWidth
      this.#height = root.height
      this.#count = root.count
      this.#root = root.node
    }
    this.#format = nodeFormat(this.#bitWidth)
  }

  /** A tree without entries. */
  static empty<V>(store: Blockstore, codec: Codec<V>, options: AmtOptions = {}): Amt<V> {
    return new Amt(store, codec, options, undefined)
  }

  /**
   * The tree with this root.
   * @throws BlockMissing; IpldError `INVALID_AMT`; CodecError
   */
  static load<V>(store: Blockstore, root: Cid, codec: Codec<V>, options: AmtOptions = {}): Amt<V> {
    return new Amt(store, codec, options, root)
  }

  /** Number of entries. */
  get count(): number {
    return this.#count
  }

  get bitWidth(): number {
    return this.#bitWidth
  }

  #node(link: AmtLink): AmtNode {
    if (link.node !== undefined) return link.node
    const { nodes } = this.#store
    const key = this.#format + link.cid.key
    const known = nodes?.get(key)
    if (known !== undefined) return known as AmtNode
    const { node, bytes } = this.#decoded(link)
    if (nodes === undefined) link.node = node
    else nodes.set(key, node, bytes)
    return node
  }

  #value(item: AmtItem): V {
    if (item.codec === this.#codec) return item.value as V
    const reader = new CborReader(item.raw)
    const value = this.#codec.read(reader)
    reader.end()
    item.value = value
    item.codec = this.#codec
    return value
  }

  /** How many indices a node covers at a height. Exact up to 2^53; above that only compared with smaller numbers. */
  #span(height: number): number {
    return 2 ** (this.#bitWidth * height)
  }

  #item(index: number): AmtItem | undefined {
    if (index >= this.#span(this.#height + 1)) return undefined
    let node = this.#root
    let rest = index
    for (let height = this.#height; height > 0; height--) {
      const span = this.#span(height)
      const child = node.links?.[Math.floor(rest / span)]
      if (child === undefined) return undefined
      node = isLink(child) ? this.#node(child) : child
      rest %= span
    }
    if (node.links !== undefined) throw invalid('AMT leaf has links')
    return node.values?.[rest]
  }

  /** {@link #item} of an index that a number does not hold. */
  #wideItem(index: bigint): AmtItem | undefined {
    const bits = BigInt(this.#bitWidth)
    if (index >> (bits * BigInt(this.#height + 1)) !== 0n) return undefined
    let node = this.#root
    for (let height = this.#height; height > 0; height--) {
      const child = node.links?.[Number(BigInt.asUintN(this.#bitWidth, index >> (bits * BigInt(height))))]
      if (child === undefined) return undefined
      node = isLink(child) ? this.#node(child) : child
    }
    if (node.links !== undefined) throw invalid('AMT leaf has links')
    return node.values?.[Number(BigInt.asUintN(this.#bitWidth, index))]
  }

  /** The value at an index, undefined when there is none. */
  get(index: WideNumber): V | undefined {
    if (typeof index === 'number') checkIndex(index)
    const item = typeof index === 'number' ? this.#item(index) : this.#wideItem(index)
    return item === undefined ? undefined : this.#value(item)
  }

  #own(node: AmtNode, height: number): AmtNode {
    if (node.owner === this.#token && (height === 0 || node.links !== undefined)) return node
    const width = 2 ** this.#bitWidth
    if (height === 0)
      return new AmtNode(undefined, node.values?.slice() ?? new Array<undefined>(width).fill(undefined), this.#token)
    return new AmtNode(node.links?.slice() ?? new Array<undefined>(width).fill(undefined), undefined, this.#token)
  }

  /** Sets the value at an index. */
  set(index: number, value: V): void {
    checkIndex(index)
    const raw = encode(this.#codec, value)
    while (index >= this.#span(this.#height + 1)) {
      const links = new Array<AmtLink | AmtNode | undefined>(2 ** this.#bitWidth).fill(undefined)
      if (!isEmptyNode(this.#root)) links[0] = this.#own(this.#root, this.#height)
      this.#root = new AmtNode(links, undefined, this.#token)
      this.#height++
      this.#rootCid = undefined
    }
    const known = this.#item(index)
    if (known !== undefined && equalBytes(known.raw, raw)) return
    if (known === undefined) this.#count++
    this.#rootCid = undefined
    let node = this.#own(this.#root, this.#height)
    this.#root = node
    let rest = index
    for (let height = this.#height; height > 0; height--) {
      const span = this.#span(height)
      const links = node.links as (AmtLink | AmtNode | undefined)[]
      const at = Math.floor(rest / span)
      const child = links[at]
      node = this.#own(child === undefined ? EMPTY_NODE : isLink(child) ? this.#node(child) : child, height - 1)
      links[at] = node
      rest %= span
    }
    ;(node.values as (AmtItem | undefined)[])[rest] = { raw, value, codec: this.#codec }
  }

  /** Removes an entry. @returns whether it was there */
  delete(index: number): boolean {
    checkIndex(index)
    if (this.#item(index) === undefined) return false
    this.#rootCid = undefined
    this.#count--
    this.#root = this.#own(this.#root, this.#height)
    this.#remove(this.#root, this.#height, index)
    if (isEmptyNode(this.#root)) {
      this.#root = new AmtNode(undefined, new Array<undefined>(2 ** this.#bitWidth).fill(undefined), this.#token)
      this.#height = 0
      return true
    }
    while (this.#height > 0) {
      const links = this.#root.links as (AmtLink | AmtNode | undefined)[]
      const first = links[0]
      if (first === undefined || links.some((child, i) => i > 0 && child !== undefined)) break
      this.#root = isLink(first) ? this.#node(first) : first
      this.#height--
    }
    return true
  }

  #remove(node: AmtNode, height: number, index: number): void {
    if (height === 0) {
      ;(node.values as (AmtItem | undefined)[])[index] = undefined
      return
    }
    const span = this.#span(height)
    const at = Math.floor(index / span)
    const links = node.links as (AmtLink | AmtNode | undefined)[]
    const child = links[at] as AmtLink | AmtNode
    const own = this.#own(isLink(child) ? this.#node(child) : child, height - 1)
    links[at] = own
    this.#remove(own, height - 1, index % span)
    if (isEmptyNode(own)) links[at] = undefined
  }

  /** Writes the changed nodes, children first, and returns the root. */
  flush(): Cid {
    if (this.#rootCid !== undefined) return this.#rootCid
    this.#writeChildren(this.#root)
    const root = { bitWidth: this.#bitWidth, height: this.#height, count: this.#count, node: this.#root }
    this.#rootCid = putRoot(this.#store, root, this.#v0)
    this.#root.owner = undefined
    this.#token = {}
    return this.#rootCid
  }

  #writeChildren(node: AmtNode): void {
    const { links } = node
    if (links === undefined) return
    for (let i = 0; i < links.length; i++) {
      const child = links[i]
      if (child === undefined || isLink(child)) continue
      this.#writeChildren(child)
      links[i] = putNode(this.#store, child, this.#bitWidth)
      child.owner = undefined
    }
  }

  /** All entries in order of their index. */
  entries(): IterableIterator<[number, V]> {
    return present(this.found())
  }

  /** {@link entries}, where nodes may be elsewhere. */
  found(): Found<[number, V]> {
    return this.#walk(this.#root, this.#height, 0, walkBudget())
  }

  #decoded(link: AmtLink): { readonly node: AmtNode; readonly bytes: number } {
    const block = getBlock(this.#store, link.cid)
    const reader = new CborReader(block)
    const node = readNode(reader, this.#bitWidth)
    reader.end()
    return { node, bytes: block.length }
  }

  /** A node that a walk comes to. */
  #walked(link: AmtLink, budget: WalkBudget): AmtNode {
    const { nodes } = this.#store
    if (nodes === undefined || budget.left > 0) {
      budget.left--
      return this.#node(link)
    }
    return (nodes.get(this.#format + link.cid.key) as AmtNode | undefined) ?? this.#decoded(link).node
  }

  /** A node that is read with all that follow it. @param at - of its link in its parent's */
  #withOthers(links: AmtNode['links'], at: number, read: () => AmtNode): AmtNode {
    try {
      return read()
    } catch (error) {
      throw withSiblings(error, this.#store, linksAfter(links, at))
    }
  }

  *#walk(node: AmtNode, height: number, base: number, budget: WalkBudget): Found<[number, V]> {
    if (height === 0) {
      const values = leafValues(node)
      for (let i = 0; i < values.length; i++) {
        const item = values[i]
        if (item !== undefined) yield [base + i, this.#value(item)]
      }
      return
    }
    const span = this.#span(height)
    const links = node.links ?? []
    for (let i = 0; i < links.length; i++) {
      const child = links[i]
      if (child === undefined) continue
      const read = (): AmtNode =>
        isLink(child) ? this.#withOthers(links, i, () => this.#walked(child, budget)) : child
      const below = yield* reading(read)
      yield* this.#walk(below, height - 1, base + i * span, budget)
    }
  }

  /** Calls back for each entry in order. */
  forEach(visit: (index: number, value: V) => void): void {
    this.#each(this.#root, this.#height, 0, visit)
  }

  #each(node: AmtNode, height: number, base: number, visit: (index: number, value: V) => void): void {
    if (height === 0) {
      const values = leafValues(node)
      for (let i = 0; i < values.length; i++) {
        const item = values[i]
        if (item !== undefined) visit(base + i, this.#value(item))
      }
      return
    }
    const span = this.#span(height)
    const links = node.links ?? []
    for (let i = 0; i < links.length; i++) {
      const child = links[i]
      if (child === undefined) continue
      const below = isLink(child) ? this.#withOthers(links, i, () => this.#node(child)) : child
      this.#each(below, height - 1, base + i * span, visit)
    }
  }

  /** All values in order. */
  values(): V[] {
    const out: V[] = []
    this.forEach((_, value) => {
      out.push(value)
    })
    return out
  }
}

function checkIndex(index: number): void {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw new IpldError('OUT_OF_RANGE', `Cannot use AMT index ${index}: not a whole number below 2^53`)
  }
}

/**
 * Root of a new tree of these values, in order from index 0. Each node is written when it is full, and of what is written the links alone are
 * kept: a message may emit hundreds of megabytes of events.
 * @see ref-fvm ipld/amt/src/amt.rs AmtImpl::new_from_iter
 */
export function amtOf<V>(store: Blockstore, codec: Codec<V>, values: readonly V[], options: AmtOptions = {}): Cid {
  const v0 = options.v0 ?? false
  const bitWidth = v0 ? DEFAULT_BIT_WIDTH : (options.bitWidth ?? DEFAULT_BIT_WIDTH)
  const width = 2 ** bitWidth
  const item = (value: V): AmtItem => ({ raw: encode(codec, value), value, codec })
  let nodeAt = (from: number): AmtNode => new AmtNode(undefined, widened(values, from, width, item), undefined)
  let height = 0
  let places = values.length
  for (; places > width; height++) {
    const links: AmtLink[] = []
    for (let from = 0; from < places; from += width)
      links.push({ ...putNode(store, nodeAt(from), bitWidth), node: undefined })
    nodeAt = (from) =>
      new AmtNode(
        widened(links, from, width, (link) => link),
        undefined,
        undefined,
      )
    places = links.length
  }
  return putRoot(store, { bitWidth, height, count: values.length, node: nodeAt(0) }, v0)
}

/** The items of a node, as many as there are from there on, undefined up to its width. */
function widened<T, R>(all: readonly T[], from: number, width: number, to: (entry: T) => R): (R | undefined)[] {
  return Array.from({ length: width }, (_, at) => (from + at < all.length ? to(all[from + at] as T) : undefined))
}
