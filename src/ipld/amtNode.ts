/** Nodes and roots of an AMT: their forms in a block. @see amt.ts for the layout */
import { CborReader } from '../codec/cborReader.ts'
import { type CborWriter, written } from '../codec/cborWriter.ts'
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, getBlock, putBlock } from './blockstore.ts'
import { IpldError } from './errors.ts'

/** Bit width of v0, and the default of v3. */
export const DEFAULT_BIT_WIDTH = 3
const MAX_BIT_WIDTH = 18
/** 64 bits of index, at least one bit a level. */
const MAX_HEIGHT = 63

/** One value's bytes; `value` is decoded when first asked for, by `codec`. */
export interface AmtItem {
  readonly raw: Uint8Array
  value: unknown
  codec: unknown
}

/** A child that is in the store. `node` is kept only where the store has no `nodes`. */
export interface AmtLink {
  readonly cid: Cid
  node: AmtNode | undefined
}

/** Above height 0 only `links` is used, at height 0 only `values`; both sparse arrays of the node's width. */
export class AmtNode {
  readonly links: (AmtLink | AmtNode | undefined)[] | undefined
  readonly values: (AmtItem | undefined)[] | undefined
  owner: object | undefined

  constructor(
    links: (AmtLink | AmtNode | undefined)[] | undefined,
    values: (AmtItem | undefined)[] | undefined,
    owner: object | undefined,
  ) {
    this.links = links
    this.values = values
    this.owner = owner
  }
}

/** An error `INVALID_AMT`; the caller throws it. */
export function invalid(message: string): IpldError {
  return new IpldError('INVALID_AMT', message)
}

/** Whether a child is named by its CID; else it is a node that is not written yet. */
export function isLink(child: AmtLink | AmtNode): child is AmtLink {
  return !(child instanceof AmtNode)
}

/**
 * Reads one node: links or values, as many as its bitmap has bits.
 * @throws IpldError `INVALID_AMT`; CodecError
 */
export function readNode(reader: CborReader, bitWidth: number): AmtNode {
  const width = 2 ** bitWidth
  if (reader.readArray() !== 3) throw invalid('AMT node is not an array of three')
  const bitmap = reader.readBytes()
  if (bitmap.length !== Math.max(1, width >> 3)) {
    throw invalid(`AMT bitmap of ${bitmap.length} bytes, expected ${Math.max(1, width >> 3)}`)
  }
  const linkCount = reader.readArray()
  const links: (AmtLink | undefined)[] | undefined =
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
    (links as (AmtLink | undefined)[])[next()] = { cid: reader.readCid(), node: undefined }
  const valueCount = reader.readArray()
  if (linkCount > 0 && valueCount > 0) throw invalid('AMT node has links and values')
  const values: (AmtItem | undefined)[] | undefined =
    linkCount > 0 ? undefined : new Array<undefined>(width).fill(undefined)
  for (let i = 0; i < valueCount; i++) {
    ;(values as (AmtItem | undefined)[])[next()] = { raw: reader.readRaw(), value: undefined, codec: undefined }
  }
  let bits = 0
  for (let i = 0; i < bitmap.length; i++) for (let b = bitmap[i] as number; b !== 0; b &= b - 1) bits++
  if (bits !== linkCount + valueCount) throw invalid('AMT node has fewer items than bits')
  return new AmtNode(links, values, undefined)
}

/**
 * Writes one node, whose children are all in the store.
 * @throws IpldError `INVALID_AMT` for a child that is not
 */
export function writeNode(writer: CborWriter, node: AmtNode, bitWidth: number): void {
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
      const item = items[i] as AmtItem | undefined
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

/** Name of a width's nodes in a store's cache. */
export function nodeFormat(bitWidth: number): string {
  return `a${bitWidth}`
}

/** Writes a node below the root, whose children are all in the store. */
export function putNode(store: Blockstore, node: AmtNode, bitWidth: number): AmtLink {
  const block = written((writer) => writeNode(writer, node, bitWidth))
  const cid = putBlock(store, block)
  store.nodes?.set(nodeFormat(bitWidth) + cid.key, node, block.length)
  return { cid, node: store.nodes === undefined ? node : undefined }
}

/** Writes the root, likewise. */
export function putRoot(store: Blockstore, { bitWidth, height, count, node }: AmtRoot, v0: boolean): Cid {
  const block = written((writer) => {
    writer.array(v0 ? 3 : 4)
    if (!v0) writer.uint(bitWidth)
    writer.uint(height)
    writer.uint(count)
    writeNode(writer, node, bitWidth)
  })
  return putBlock(store, block)
}

/** Whether it has neither links nor values. */
export function isEmptyNode(node: AmtNode): boolean {
  const items = node.links ?? node.values ?? []
  for (let i = 0; i < items.length; i++) if (items[i] !== undefined) return false
  return true
}

/** A decoded root, shared through the store's cache. */
export interface AmtRoot {
  readonly bitWidth: number
  readonly height: number
  readonly count: number
  readonly node: AmtNode
}

function readRoot(data: Uint8Array, v0: boolean): AmtRoot {
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

/** Shared: whoever writes copies it. */
export const EMPTY_NODE: AmtNode = new AmtNode(undefined, undefined, undefined)

/**
 * A leaf's values by place, undefined where there is none.
 * @throws IpldError `INVALID_AMT` for a node with links
 */
export function leafValues(node: AmtNode): (AmtItem | undefined)[] {
  if (node.links !== undefined) throw invalid('AMT leaf has links')
  return node.values ?? []
}

/**
 * The root in a block, out of the store's cache of nodes where it has one.
 * @param v0 - specs-actors' first layout, of {@link DEFAULT_BIT_WIDTH}
 * @throws BlockMissing; IpldError `INVALID_AMT`; CodecError
 */
export function loadRoot(store: Blockstore, cid: Cid, v0: boolean): AmtRoot {
  const { nodes } = store
  const key = (v0 ? 'r0' : 'r3') + cid.key
  const known = nodes?.get(key)
  if (known !== undefined) return known as AmtRoot
  const block = getBlock(store, cid)
  const root = readRoot(block, v0)
  nodes?.set(key, root, block.length)
  return root
}

/** Links of a node behind one of its places. */
export function* linksAfter(links: AmtNode['links'], at: number): Iterable<Cid> {
  for (const link of (links ?? []).slice(at + 1)) if (link !== undefined && isLink(link)) yield link.cid
}
