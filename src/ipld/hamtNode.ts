/** Nodes of a HAMT: their form in a block, and what canonical form asks of them. @see hamt.ts for the layout */
import { compareBytes, EMPTY_BYTES, equalBytes } from '../base/bytes.ts'
import { MAJOR_BYTES, MAJOR_MAP, MAJOR_TAG } from '../codec/cbor.ts'
import { CborReader } from '../codec/cborReader.ts'
import { type CborWriter, written } from '../codec/cborWriter.ts'
import type { Cid } from '../codec/cid.ts'
import { IpldError } from './errors.ts'

/** Entries in a slot before it becomes a node. */
export const BUCKET_SIZE = 3
const HASH_BITS = 256

/** One key with its value's bytes; `value` is decoded when first asked for, by `codec`. */
export interface HamtEntry {
  readonly key: Uint8Array
  readonly raw: Uint8Array
  value: unknown
  codec: unknown
}

/** A child that is in the store. `node` is kept only where the store has no `nodes`. */
export interface HamtLink {
  readonly cid: Cid
  node: HamtNode | undefined
}

/** What a part of the hash leads to: nothing, up to three entries, or a node, here or in the store. */
export type HamtSlot = HamtNode | HamtLink | HamtEntry[] | undefined

/**
 * One node; of its slots there are 2 to the power of the bit width. A node is read for one of its slots mostly: what the others hold stays
 * as it is in the block. All decoded, a node of links took 7,000 bytes beside its block.
 */
export class HamtNode {
  /** A number: where it starts in `block`, as nobody has asked for it yet. */
  readonly slots: (HamtSlot | number)[]
  /** The tree that may write to it; undefined: nobody, it is shared. */
  owner: object | undefined
  /** What it was read from, or what it is a copy of. */
  readonly block: Uint8Array

  constructor(slots: (HamtSlot | number)[], owner: object | undefined, block: Uint8Array = EMPTY_BYTES) {
    this.slots = slots
    this.owner = owner
    this.block = block
  }

  /** What a slot holds, decoded once and then the same object. */
  slot(index: number): HamtSlot {
    const slot = this.slots[index]
    if (typeof slot !== 'number') return slot
    const read = readPointer(new CborReader(this.block, slot))
    this.slots[index] = read
    return read
  }
}

/** An error `INVALID_HAMT`; the caller throws it. */
export function invalid(message: string, cause?: unknown): IpldError {
  return new IpldError('INVALID_HAMT', message, {}, cause === undefined ? undefined : { cause })
}

/** Whether a child is named by its CID; else it is a node that is not written yet. */
export function isLink(slot: HamtNode | HamtLink): slot is HamtLink {
  return !(slot instanceof HamtNode)
}

/** Of a bucket that {@link checkEntries} has seen. */
function readEntries(reader: CborReader): HamtEntry[] {
  const out: HamtEntry[] = []
  for (let left = reader.readArray(); left > 0; left--) {
    reader.readArray()
    const key = reader.readBytes()
    out.push({ key, raw: reader.readRaw(), value: undefined, codec: undefined })
  }
  return out
}

function readLink(reader: CborReader): HamtLink {
  return { cid: reader.readCid(), node: undefined }
}

function readPointer(reader: CborReader): HamtLink | HamtEntry[] {
  const major = reader.peekMajor()
  if (major === MAJOR_TAG) return readLink(reader)
  if (major !== MAJOR_MAP) return readEntries(reader)
  reader.readMap()
  return reader.readText() === '0' ? readLink(reader) : readEntries(reader)
}

/** Whether two nodes hold the same link at a slot, as far as that is seen without decoding it. */
export function sameLink(here: HamtNode, there: HamtNode, index: number): boolean {
  const [a, b] = [here.slots[index], there.slots[index]]
  if (typeof a !== 'number' || typeof b !== 'number') return false
  const [first, second] = [new CborReader(here.block, a), new CborReader(there.block, b)]
  return first.peekMajor() === MAJOR_TAG && equalBytes(first.readRaw(), second.readRaw())
}

/** Moves behind a bucket. */
function checkEntries(reader: CborReader): void {
  const count = reader.readArray()
  if (count === 0) throw invalid('empty HAMT bucket')
  if (count > BUCKET_SIZE) throw invalid(`HAMT bucket with ${count} entries, at most ${BUCKET_SIZE}`)
  let before: Uint8Array | undefined
  for (let i = 0; i < count; i++) {
    if (reader.readArray() !== 2) throw invalid('HAMT entry is not a pair')
    if (count === 1 && reader.peekMajor() === MAJOR_BYTES) {
      reader.skip()
    } else {
      const key = reader.readBytes()
      if (before !== undefined && compareBytes(before, key) >= 0) throw invalid('HAMT bucket is not sorted')
      before = key
    }
    reader.skip()
  }
}

function checkPointer(reader: CborReader, pointerMaps: boolean): void {
  if (!pointerMaps) {
    if (reader.peekMajor() === MAJOR_TAG) reader.skipCid()
    else checkEntries(reader)
    return
  }
  if (reader.readMap() !== 1) throw invalid('HAMT pointer is not a map of one entry')
  const kind = reader.readText()
  if (kind === '0') reader.skipCid()
  else if (kind === '1') checkEntries(reader)
  else throw invalid(`HAMT pointer of unknown kind ${kind}`)
}

/**
 * Reads one node, checked for canonical form as far as it can be seen from the node.
 * @param pointerMaps - the older form of pointers
 * @throws IpldError `INVALID_HAMT`; CodecError
 */
export function decodeNode(data: Uint8Array, bitWidth: number, pointerMaps: boolean): HamtNode {
  const reader = new CborReader(data)
  if (reader.readArray() !== 2) throw invalid('HAMT node is not a pair')
  const field = reader.readBytes()
  const width = 1 << bitWidth
  if (field.length > 0 && field[0] === 0) throw invalid('HAMT bit field has leading zeros')
  if (field.length > Math.max(1, width >> 3)) {
    throw invalid(`HAMT bit field has ${field.length} bytes, too many for width ${width}`)
  }
  const slots: (HamtSlot | number)[] = new Array<HamtSlot>(width).fill(undefined)
  const count = reader.readArray()
  let found = 0
  for (let i = 0; i < field.length; i++) {
    let byte = field[field.length - 1 - i] as number
    for (let bit = 0; byte !== 0; bit++, byte >>>= 1) {
      if ((byte & 1) === 0) continue
      const index = i * 8 + bit
      if (index >= width) throw invalid('HAMT bit field is wider than the node')
      if (++found > count) throw invalid('HAMT node has fewer pointers than bits')
      slots[index] = reader.offset
      checkPointer(reader, pointerMaps)
    }
  }
  if (found !== count) throw invalid('HAMT node has more pointers than bits')
  reader.end()
  return new HamtNode(slots, undefined, data)
}

/**
 * A node's block, its children all in the store.
 * @throws IpldError `INVALID_HAMT` for a child that is not
 */
export function encodeNode(node: HamtNode, pointerMaps: boolean): Uint8Array {
  const { slots } = node
  let top = -1
  let count = 0
  for (let i = 0; i < slots.length; i++) {
    if (slots[i] !== undefined) {
      top = i
      count++
    }
  }
  const field = top < 0 ? EMPTY_BYTES : new Uint8Array((top >> 3) + 1)
  for (let i = 0; i <= top; i++) {
    if (slots[i] !== undefined) {
      const at = field.length - 1 - (i >> 3)
      field[at] = (field[at] as number) | (1 << (i & 7))
    }
  }
  return written((writer) => writeNode(writer, node, field, count, pointerMaps))
}

function writeNode(
  writer: CborWriter,
  { slots, block }: HamtNode,
  field: Uint8Array,
  count: number,
  pointerMaps: boolean,
): void {
  writer.array(2)
  writer.bytes(field)
  writer.array(count)
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]
    if (slot === undefined) continue
    if (typeof slot === 'number') {
      writer.raw(new CborReader(block, slot).readRaw())
    } else if (Array.isArray(slot)) {
      if (pointerMaps) {
        writer.map(1)
        writer.text('1')
      }
      writer.array(slot.length)
      for (let j = 0; j < slot.length; j++) {
        const entry = slot[j] as HamtEntry
        writer.array(2)
        writer.bytes(entry.key)
        writer.raw(entry.raw)
      }
    } else {
      if (!isLink(slot)) throw invalid('HAMT node has a child that was not written')
      if (pointerMaps) {
        writer.map(1)
        writer.text('0')
      }
      writer.cid(slot.cid)
    }
  }
}

/** No key leads below: a deeper node is a stranger's. @throws IpldError `MAX_DEPTH` */
export function assertDepth(depth: number, bitWidth: number): void {
  if ((depth + 1) * bitWidth <= HASH_BITS) return
  throw new IpldError('MAX_DEPTH', 'Cannot go deeper in HAMT: no bits of the hash are left')
}

/** The bits of a key's hash at a level. */
export function slotIndex(hash: Uint8Array, depth: number, bitWidth: number): number {
  assertDepth(depth, bitWidth)
  const start = depth * bitWidth
  const at = start >> 3
  const word = ((hash[at] as number) << 8) | (hash[at + 1] ?? 0)
  return (word >> (16 - (start & 7) - bitWidth)) & ((1 << bitWidth) - 1)
}

/** Adds all entries below a slot to `out`. @param load - of a node that is so many levels below the slot */
export function collect(
  slot: HamtSlot,
  out: HamtEntry[],
  load: (link: HamtLink, below: number) => HamtNode,
  below = 1,
): void {
  if (slot === undefined) return
  if (Array.isArray(slot)) {
    out.push(...slot)
    return
  }
  const node = isLink(slot) ? load(slot, below) : slot
  for (let i = 0; i < node.slots.length; i++) collect(node.slot(i), out, load, below + 1)
}

/** The bucket that a child shrinks to after a removal: canonical form allows no node that a bucket could hold. */
export function collapsed(node: HamtNode): HamtEntry[] | undefined {
  const out: HamtEntry[] = []
  for (let i = 0; i < node.slots.length; i++) {
    const slot = node.slot(i)
    if (slot === undefined) continue
    if (!Array.isArray(slot)) return undefined
    for (let j = 0; j < slot.length; j++) out.push(slot[j] as HamtEntry)
    if (out.length > BUCKET_SIZE) return undefined
  }
  return out.sort((a, b) => compareBytes(a.key, b.key))
}

/** Links of a node from one of its slots on. */
export function* linksFrom(node: HamtNode, at: number): Iterable<Cid> {
  for (let i = at; i < node.slots.length; i++) {
    const slot = node.slot(i)
    if (slot !== undefined && !Array.isArray(slot) && isLink(slot)) yield slot.cid
  }
}
