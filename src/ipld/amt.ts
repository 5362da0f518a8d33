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
import { CborReader, CborWriter } from '../codec/cbor.ts'
import type { Cid } from '../codec/cid.ts'
import type { Codec } from '../codec/description.ts'
import { type Blockstore, getBlock, putBlock } from './blockstore.ts'
import { IpldError } from './errors.ts'

/** Bit width of v0, and the default of v3. */
const DEFAULT_BIT_WIDTH = 3
const MAX_BIT_WIDTH = 18
/** 64 bits of index, at least one bit a level. */
const MAX_HEIGHT = 63

/** One value's bytes; `value` is decoded when first asked for, by `codec`. */
interface Item {
  readonly raw: Uint8Array
  value: unknown
  codec: unknown
}

/** A child that is in the store. `node` is kept only where the store has no {@link Blockstore.nodes}. */
interface Link {
  readonly cid: Cid
  node: Node | undefined
}

/** Above height 0 only `links` is used, at height 0 only `values`; both sparse arrays of the node's width. */
class Node {
  readonly links: (Link | Node | undefined)[] | undefined
  readonly values: (Item | undefined)[] | undefined
  owner: object | undefined

  constructor(
    links: (Link | Node | undefined)[] | undefined,
    values: (Item | undefined)[] | undefined,
    owner: object | undefined,
  ) {
    this.links = links
    this.values = values
    this.owner = owner
  }
}

/** How a tree is laid out. */
export interface AmtOptions {
  /** The root of v0: three fields, width 8. */
  readonly v0?: boolean
  /** Bit width of a new tree, 1 to 18, default 3; when a tree is loaded: what its root must say. */
  readonly bitWidth?: number
}

function invalid(message: string): IpldError {
  return new IpldError('INVALID_AMT', message)
}

function isLink(child: Link | Node): child is Link {
  return !(child instanceof Node)
}

function readNode(reader: CborReader, bitWidth: number): Node {
  const width = 2 ** bitWidth
  if (reader.readArray() !== 3) throw invalid('AMT node is not an array of three')
  const bitmap = reader.readBytes()
  if (bitmap.length !== Math.max(1, width >> 3)) {
    throw invalid(`AMT bitmap of ${bitmap.length} bytes, expected ${Math.max(1, width >> 3)}`)
  }
  const linkCount = reader.readArray()
  const links: (Link | undefined)[] | undefined =
    linkCount === 0 ? undefined : new Array<undefined>(width).fill(undefined)
  let index = -1
  const next = (): number => {
    for (index++; index < bitmap.length * 8; index++) {
      if (((bitmap[index >> 3] as number) & (1 << (index & 7))) !== 0) {
        if (index >= width) throw invalid('AMT bitmap is wider than the node')
        return index
      }
    }
    throw invalid('AMT node has more items than bits')
  }
  for (let i = 0; i < linkCount; i++)
    (links as (Link | undefined)[])[next()] = { cid: reader.readCid(), node: undefined }
  const valueCount = reader.readArray()
  if (linkCount > 0 && valueCount > 0) throw invalid('AMT node has links and values')
  const values: (Item | undefined)[] | undefined =
    linkCount > 0 ? undefined : new Array<undefined>(width).fill(undefined)
  for (let i = 0; i < valueCount; i++) {
    ;(values as (Item | undefined)[])[next()] = { raw: reader.readRaw(), value: undefined, codec: undefined }
  }
  let bits = 0
  for (let i = 0; i < bitmap.length; i++) for (let b = bitmap[i] as number; b !== 0; b &= b - 1) bits++
  if (bits !== linkCount + valueCount) throw invalid('AMT node has fewer items than bits')
  return new Node(links, values, undefined)
}

function writeNode(writer: CborWriter, node: Node, bitWidth: number): void {
  const items = node.links ?? node.values ?? []
  const bitmap = new Uint8Array(Math.max(1, (2 ** bitWidth) >> 3))
  let count = 0
  for (let i = 0; i < items.length; i++) {
    if (items[i] === undefined) continue
    bitmap[i >> 3] = (bitmap[i >> 3] as number) | (1 << (i & 7))
    count++
  }
  writer.array(3)
  writer.bytes(bitmap)
  if (node.links === undefined) {
    writer.array(0)
    writer.array(count)
    for (let i = 0; i < items.length; i++) {
      const item = items[i] as Item | undefined
      if (item !== undefined) writer.raw(item.raw)
    }
  } else {
    writer.array(count)
    for (let i = 0; i < node.links.length; i++) {
      const child = node.links[i]
      if (child === undefined) continue
      if (!isLink(child)) throw invalid('AMT node has a child that was not written')
      writer.cid(child.cid)
    }
    writer.array(0)
  }
}

function isEmptyNode(node: Node): boolean {
  const items = node.links ?? node.values ?? []
  for (let i = 0; i < items.length; i++) if (items[i] !== undefined) return false
  return true
}

/** A decoded root, shared through the store's cache. */
interface Root {
  readonly bitWidth: number
  readonly height: number
  readonly count: number
  readonly node: Node
}

function readRoot(data: Uint8Array, v0: boolean): Root {
  const reader = new CborReader(data)
  const fields = reader.readArray()
  if (fields !== (v0 ? 3 : 4)) throw invalid(`AMT root has ${fields} fields, expected ${v0 ? 3 : 4}`)
  const bitWidth = v0 ? DEFAULT_BIT_WIDTH : reader.readUintNumber()
  if (bitWidth < 1 || bitWidth > MAX_BIT_WIDTH)
    throw invalid(`AMT bit width ${bitWidth} is not between 1 and ${MAX_BIT_WIDTH}`)
  const height = reader.readUintNumber()
  if (height > MAX_HEIGHT) throw invalid(`AMT height ${height} is above ${MAX_HEIGHT}`)
  const count = reader.readUintNumber()
  const node = readNode(reader, bitWidth)
  reader.end()
  if (height > 0 && node.links === undefined && !isEmptyNode(node)) throw invalid('AMT node above height 0 has values')
  if (height === 0 && node.links !== undefined) throw invalid('AMT leaf has links')
  return { bitWidth, height, count, node }
}

/**
 * A tree over a store. Reads decode only the nodes on the way; writes stay in memory until {@link Amt.flush}. Values
 * that are returned are views of blocks. Indices above 2^53-1 are refused.
 */
export class Amt<V> {
  readonly #store: Blockstore
  readonly #codec: Codec<V>
  readonly #v0: boolean
  readonly #bitWidth: number
  readonly #format: string
  #height: number
  #count: number
  #root: Node
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
      this.#root = new Node(undefined, new Array<undefined>(2 ** this.#bitWidth).fill(undefined), this.#token)
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
    this.#format = `a${this.#bitWidth}`
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

  #node(link: Link): Node {
    if (link.node !== undefined) return link.node
    const { nodes } = this.#store
    const key = this.#format + link.cid.key
    const known = nodes?.get(key)
    if (known !== undefined) return known as Node
    const reader = new CborReader(getBlock(this.#store, link.cid))
    const node = readNode(reader, this.#bitWidth)
    reader.end()
    if (nodes === undefined) link.node = node
    else nodes.set(key, node)
    return node
  }

  #value(item: Item): V {
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

  #item(index: number): Item | undefined {
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

  /** The value at an index, undefined when there is none. */
  get(index: number): V | undefined {
    checkIndex(index)
    const item = this.#item(index)
    return item === undefined ? undefined : this.#value(item)
  }

  #own(node: Node, height: number): Node {
    if (node.owner === this.#token && (height === 0 || node.links !== undefined)) return node
    const width = 2 ** this.#bitWidth
    if (height === 0)
      return new Node(undefined, node.values?.slice() ?? new Array<undefined>(width).fill(undefined), this.#token)
    return new Node(node.links?.slice() ?? new Array<undefined>(width).fill(undefined), undefined, this.#token)
  }

  /** Sets the value at an index. */
  set(index: number, value: V): void {
    checkIndex(index)
    const writer = new CborWriter(128)
    this.#codec.write(writer, value)
    const raw = writer.finish()
    while (index >= this.#span(this.#height + 1)) {
      const links = new Array<Link | Node | undefined>(2 ** this.#bitWidth).fill(undefined)
      if (!isEmptyNode(this.#root)) links[0] = this.#own(this.#root, this.#height)
      this.#root = new Node(links, undefined, this.#token)
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
      const links = node.links as (Link | Node | undefined)[]
      const at = Math.floor(rest / span)
      const child = links[at]
      node = this.#own(child === undefined ? EMPTY_NODE : isLink(child) ? this.#node(child) : child, height - 1)
      links[at] = node
      rest %= span
    }
    ;(node.values as (Item | undefined)[])[rest] = { raw, value, codec: this.#codec }
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
      this.#root = new Node(undefined, new Array<undefined>(2 ** this.#bitWidth).fill(undefined), this.#token)
      this.#height = 0
      return true
    }
    while (this.#height > 0) {
      const links = this.#root.links as (Link | Node | undefined)[]
      const first = links[0]
      if (first === undefined || links.some((child, i) => i > 0 && child !== undefined)) break
      this.#root = isLink(first) ? this.#node(first) : first
      this.#height--
    }
    return true
  }

  #remove(node: Node, height: number, index: number): void {
    if (height === 0) {
      ;(node.values as (Item | undefined)[])[index] = undefined
      return
    }
    const span = this.#span(height)
    const at = Math.floor(index / span)
    const links = node.links as (Link | Node | undefined)[]
    const child = links[at] as Link | Node
    const own = this.#own(isLink(child) ? this.#node(child) : child, height - 1)
    links[at] = own
    this.#remove(own, height - 1, index % span)
    if (isEmptyNode(own)) links[at] = undefined
  }

  /** Writes the changed nodes, children first, and returns the root. */
  flush(): Cid {
    if (this.#rootCid !== undefined) return this.#rootCid
    this.#writeChildren(this.#root)
    const writer = new CborWriter(1024)
    writer.array(this.#v0 ? 3 : 4)
    if (!this.#v0) writer.uint(this.#bitWidth)
    writer.uint(this.#height)
    writer.uint(this.#count)
    writeNode(writer, this.#root, this.#bitWidth)
    this.#rootCid = putBlock(this.#store, writer.finish())
    this.#root.owner = undefined
    this.#token = {}
    return this.#rootCid
  }

  #writeChildren(node: Node): void {
    const { links } = node
    if (links === undefined) return
    for (let i = 0; i < links.length; i++) {
      const child = links[i]
      if (child === undefined || isLink(child)) continue
      this.#writeChildren(child)
      const writer = new CborWriter(1024)
      writeNode(writer, child, this.#bitWidth)
      const cid = putBlock(this.#store, writer.finish())
      child.owner = undefined
      links[i] = { cid, node: this.#store.nodes === undefined ? child : undefined }
      this.#store.nodes?.set(this.#format + cid.key, child)
    }
  }

  /** All entries in order of their index. */
  *entries(): IterableIterator<[number, V]> {
    yield* this.#walk(this.#root, this.#height, 0)
  }

  *#walk(node: Node, height: number, base: number): IterableIterator<[number, V]> {
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
      if (child !== undefined) yield* this.#walk(isLink(child) ? this.#node(child) : child, height - 1, base + i * span)
    }
  }

  /** Calls back for each entry in order. */
  forEach(visit: (index: number, value: V) => void): void {
    this.#each(this.#root, this.#height, 0, visit)
  }

  #each(node: Node, height: number, base: number, visit: (index: number, value: V) => void): void {
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
      if (child !== undefined) this.#each(isLink(child) ? this.#node(child) : child, height - 1, base + i * span, visit)
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

const EMPTY_NODE = new Node(undefined, undefined, undefined)

function leafValues(node: Node): (Item | undefined)[] {
  if (node.links !== undefined) throw invalid('AMT leaf has links')
  return node.values ?? []
}

function loadRoot(store: Blockstore, cid: Cid, v0: boolean): Root {
  const { nodes } = store
  const key = (v0 ? 'r0' : 'r3') + cid.key
  const known = nodes?.get(key)
  if (known !== undefined) return known as Root
  const root = readRoot(getBlock(store, cid), v0)
  nodes?.set(key, root)
  return root
}

function checkIndex(index: number): void {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw new IpldError('OUT_OF_RANGE', `Cannot use AMT index ${index}: not a whole number below 2^53`)
  }
}

/**
 * Root of a new tree of these values, in order from index 0.
 * @see ref-fvm ipld/amt/src/amt.rs AmtImpl::new_from_iter
 */
export function amtOf<V>(store: Blockstore, codec: Codec<V>, values: readonly V[], options: AmtOptions = {}): Cid {
  const amt = Amt.empty(store, codec, options)
  for (let i = 0; i < values.length; i++) amt.set(i, values[i] as V)
  return amt.flush()
}
