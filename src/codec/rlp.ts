/**
 * Recursive length prefix: the encoding of Ethereum transactions. Decoding is strict (shortest forms, no trailing bytes)
 * and bounded as in Lotus, whose bounds decide which transactions exist.
 * @see lotus chain/types/ethtypes/rlp.go EncodeRLP, DecodeRLP
 */
import { CodecError } from './errors.ts'
import { MAX_RLP_BYTES, MAX_RLP_DEPTH, MAX_RLP_ELEMENTS } from './limits.ts'

/** A byte string or a list. */
export type RlpItem = Uint8Array | readonly RlpItem[]

function lengthOfLength(length: number): number {
  let bytes = 1
  while (length >= 256 ** bytes) bytes++
  return bytes
}

function prefixLength(length: number): number {
  return length <= 55 ? 1 : 1 + lengthOfLength(length)
}

function isSingleByte(item: Uint8Array): boolean {
  return item.length === 1 && (item[0] as number) < 0x80
}

function payloadLength(list: readonly RlpItem[]): number {
  let length = 0
  for (const item of list) length += encodedLength(item)
  return length
}

function encodedLength(item: RlpItem): number {
  if (item instanceof Uint8Array) return isSingleByte(item) ? 1 : prefixLength(item.length) + item.length
  const length = payloadLength(item)
  return prefixLength(length) + length
}

function writePrefix(out: Uint8Array, at: number, base: number, length: number): number {
  if (length <= 55) {
    out[at] = base + length
    return at + 1
  }
  const bytes = lengthOfLength(length)
  out[at] = base + 55 + bytes
  let rest = length
  for (let i = bytes; i > 0; i--) {
    out[at + i] = rest & 0xff
    rest = Math.floor(rest / 256)
  }
  return at + 1 + bytes
}

function write(out: Uint8Array, at: number, item: RlpItem): number {
  if (item instanceof Uint8Array) {
    if (isSingleByte(item)) {
      out[at] = item[0] as number
      return at + 1
    }
    const start = writePrefix(out, at, 0x80, item.length)
    out.set(item, start)
    return start + item.length
  }
  let next = writePrefix(out, at, 0xc0, payloadLength(item))
  for (const child of item) next = write(out, next, child)
  return next
}

/** The encoding of an item. */
export function encodeRlp(item: RlpItem): Uint8Array {
  const out = new Uint8Array(encodedLength(item))
  write(out, 0, item)
  return out
}

function refuse(reason: string): CodecError {
  return new CodecError('INVALID_RLP', `invalid rlp data: ${reason}`)
}

/** Reads a length of `count` bytes at `at`, which must be the shortest form and stay within `end`. */
function readLength(data: Uint8Array, at: number, count: number, end: number, what: string): number {
  if (at + count > end) throw refuse('out of bound while parsing length')
  if (data[at] === 0) throw refuse('non-canonical length encoding with leading zeros')
  // Above 4 bytes nothing fits into the input; the early end keeps the number exact.
  let length = 0
  for (let i = 0; i < count; i++) {
    length = length * 256 + (data[at + i] as number)
    if (length > end) throw refuse('out of bound while parsing length')
  }
  if (length < 56) throw refuse(`non-canonical ${what} length encoding`)
  if (at + count + length > end) throw refuse('out of bound while parsing length')
  return length
}

interface Read {
  readonly item: RlpItem
  readonly next: number
}

function readList(data: Uint8Array, start: number, length: number, depth: number): Read {
  const end = start + length
  const items: RlpItem[] = []
  let at = start
  while (at < end && items.length < MAX_RLP_ELEMENTS) {
    // The bound is the input's, not the list's: what runs over the list's end is found below, as in Lotus.
    const { item, next } = readItem(data, at, depth)
    items.push(item)
    at = next
  }
  if (at !== end) throw refuse('incorrect list length')
  return { item: items, next: end }
}

function readItem(data: Uint8Array, at: number, depth: number): Read {
  if (at >= data.length) throw refuse('data is empty')
  if (depth > MAX_RLP_DEPTH) throw refuse(`list nesting depth exceeds limit of ${MAX_RLP_DEPTH}`)
  const first = data[at] as number
  if (first < 0x80) return { item: data.subarray(at, at + 1), next: at + 1 }
  if (first < 0xc0) {
    const long = first >= 0xb8
    const length = long ? readLength(data, at + 1, first - 0xb7, data.length, 'string') : first - 0x80
    const start = long ? at + 1 + first - 0xb7 : at + 1
    if (start + length > data.length) throw refuse('out of bound while parsing string')
    if (length === 1 && (data[start] as number) < 0x80) throw refuse('non-canonical single byte encoding')
    return { item: data.subarray(start, start + length), next: start + length }
  }
  const long = first >= 0xf8
  const length = long ? readLength(data, at + 1, first - 0xf7, data.length, 'list') : first - 0xc0
  const start = long ? at + 1 + first - 0xf7 : at + 1
  if (start + length > data.length) throw refuse('out of bound while parsing list')
  return readList(data, start, length, depth + 1)
}

/**
 * The item that `data` encodes, whole. Byte strings are views of the input.
 * @throws CodecError `INVALID_RLP`, `TOO_LARGE`
 */
export function decodeRlp(data: Uint8Array): RlpItem {
  if (data.length > MAX_RLP_BYTES) {
    throw new CodecError('TOO_LARGE', `invalid rlp data: input length ${data.length} exceeds limit of ${MAX_RLP_BYTES}`)
  }
  const { item, next } = readItem(data, 0, 0)
  if (next !== data.length) throw refuse(`length ${data.length}, consumed ${next}`)
  return item
}
