/**
 * DAG-CBOR, strict: shortest integer and length forms, definite lengths, tag 42 alone, no floats.
 * Lenient scans (the machine's link scan) must not use this reader.
 * @see RFC 8949; whyrusleeping/cbor-gen CborReadHeader; ipld DAG-CBOR specification
 */
import { fromUtf8, utf8 } from '../base/bytes.ts'
import { type Cid, readCid } from './cid.ts'
import { CodecError } from './errors.ts'

export const MAJOR_UINT = 0
export const MAJOR_NEGATIVE = 1
export const MAJOR_BYTES = 2
export const MAJOR_TEXT = 3
export const MAJOR_ARRAY = 4
export const MAJOR_MAP = 5
export const MAJOR_TAG = 6
export const MAJOR_SIMPLE = 7

/** Tag of a CID. */
const TAG_CID = 42
const FALSE = 0xf4
const TRUE = 0xf5
const NULL = 0xf6
/** Deepest nesting that `skip` follows; the chain's own types stay far below, an attacker's must not exhaust the stack. */
const MAX_DEPTH = 512
const TWO_32 = 4294967296
/** Up to this many bytes are copied in a loop. */
const SHORT = 40

/** Writes items one after the other into a buffer that grows. */
export class CborWriter {
  #buffer: Uint8Array
  #at = 0

  /** @param capacity - first size of the buffer, in bytes */
  constructor(capacity = 256) {
    this.#buffer = new Uint8Array(capacity)
  }

  #reserve(count: number): void {
    const need = this.#at + count
    if (need <= this.#buffer.length) return
    const grown = new Uint8Array(Math.max(need, this.#buffer.length * 2))
    grown.set(this.#buffer.subarray(0, this.#at))
    this.#buffer = grown
  }

  /** Head of an item: major type and an argument from 0 to 2^53-1. */
  head(major: number, argument: number): void {
    this.#reserve(9)
    const buffer = this.#buffer
    const top = major << 5
    if (argument < 24) buffer[this.#at++] = top | argument
    else if (argument < 0x100) {
      buffer[this.#at++] = top | 24
      buffer[this.#at++] = argument
    } else if (argument < 0x10000) {
      buffer[this.#at++] = top | 25
      buffer[this.#at++] = argument >> 8
      buffer[this.#at++] = argument & 0xff
    } else if (argument < TWO_32) {
      buffer[this.#at++] = top | 26
      this.#u32(argument)
    } else {
      buffer[this.#at++] = top | 27
      this.#u32(Math.floor(argument / TWO_32))
      this.#u32(argument % TWO_32)
    }
  }

  #u32(value: number): void {
    const buffer = this.#buffer
    buffer[this.#at++] = (value >>> 24) & 0xff
    buffer[this.#at++] = (value >>> 16) & 0xff
    buffer[this.#at++] = (value >>> 8) & 0xff
    buffer[this.#at++] = value & 0xff
  }

  #head64(major: number, argument: bigint): void {
    if (argument <= 0x1fffffffffffffn) {
      this.head(major, Number(argument))
      return
    }
    this.#reserve(9)
    this.#buffer[this.#at++] = (major << 5) | 27
    this.#u32(Number(argument >> 32n))
    this.#u32(Number(argument & 0xffffffffn))
  }

  /** @throws CodecError `OUT_OF_RANGE` unless 0 <= value < 2^64 and whole */
  uint(value: number | bigint): void {
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value) || value < 0) throw outOfRange('unsigned number', value)
      this.head(MAJOR_UINT, value)
    } else {
      if (value < 0n || value >= 1n << 64n) throw outOfRange('unsigned number', value)
      this.#head64(MAJOR_UINT, value)
    }
  }

  /** @throws CodecError `OUT_OF_RANGE` unless a signed 64-bit number */
  int(value: number | bigint): void {
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value)) throw outOfRange('number', value)
      if (value >= 0) this.head(MAJOR_UINT, value)
      else this.head(MAJOR_NEGATIVE, -1 - value)
    } else {
      if (value < -(1n << 63n) || value >= 1n << 63n) throw outOfRange('number', value)
      if (value >= 0n) this.#head64(MAJOR_UINT, value)
      else this.#head64(MAJOR_NEGATIVE, -1n - value)
    }
  }

  bytes(value: Uint8Array): void {
    this.head(MAJOR_BYTES, value.length)
    this.raw(value)
  }

  text(value: string): void {
    const bytes = utf8(value)
    this.head(MAJOR_TEXT, bytes.length)
    this.raw(bytes)
  }

  /** Opens an array: `length` items must follow. */
  array(length: number): void {
    this.head(MAJOR_ARRAY, length)
  }

  /** Opens a map: `length` pairs must follow, in canonical key order. */
  map(length: number): void {
    this.head(MAJOR_MAP, length)
  }

  tag(value: number): void {
    this.head(MAJOR_TAG, value)
  }

  bool(value: boolean): void {
    this.#reserve(1)
    this.#buffer[this.#at++] = value ? TRUE : FALSE
  }

  null(): void {
    this.#reserve(1)
    this.#buffer[this.#at++] = NULL
  }

  /** One byte as it is. */
  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#at++] = value
  }

  /** A link: tag 42, byte string with a leading zero. */
  cid(value: Cid): void {
    this.head(MAJOR_TAG, TAG_CID)
    this.head(MAJOR_BYTES, value.bytes.length + 1)
    this.byte(0)
    this.raw(value.bytes)
  }

  /** Bytes that are already CBOR. */
  raw(value: Uint8Array): void {
    const length = value.length
    this.#reserve(length)
    const at = this.#at
    // `set` has a fixed cost of some 50 ns: a loop is faster for CIDs, addresses and numbers.
    if (length <= SHORT) {
      const buffer = this.#buffer
      for (let i = 0; i < length; i++) buffer[at + i] = value[i] as number
    } else this.#buffer.set(value, at)
    this.#at = at + length
  }

  /** What was written, in a buffer of its own. */
  finish(): Uint8Array {
    return this.#buffer.slice(0, this.#at)
  }

  /** Forgets what was written and keeps the buffer, unless it grew beyond `keep` bytes. */
  reset(keep: number): void {
    this.#at = 0
    if (this.#buffer.length > keep) this.#buffer = new Uint8Array(keep)
  }
}

function outOfRange(what: string, value: number | bigint): CodecError {
  return new CodecError('OUT_OF_RANGE', `Cannot write ${what}: ${value} does not fit`)
}

function wrongType(expected: string, major: number, offset: number): CodecError {
  return new CodecError('WRONG_TYPE', `Cannot read CBOR: expected ${expected}, got major type ${major}`, { offset })
}

/** Reads items one after the other. Byte strings are views of the input. */
export class CborReader {
  readonly input: Uint8Array
  /** Where the next item starts. */
  offset: number
  #high = 0
  #low = 0

  constructor(input: Uint8Array, offset = 0) {
    this.input = input
    this.offset = offset
  }

  /** Major type of the next item, without moving. */
  peekMajor(): number {
    const first = this.input[this.offset]
    if (first === undefined) throw this.#truncated()
    return first >> 5
  }

  /** Whether the next item is null, without moving. */
  peekNull(): boolean {
    return this.input[this.offset] === NULL
  }

  #truncated(): CodecError {
    return new CodecError('TRUNCATED', 'Cannot read CBOR: unexpected EOF', { offset: this.offset })
  }

  #need(count: number): void {
    if (this.offset + count > this.input.length) throw this.#truncated()
  }

  #u32(): number {
    const at = this.offset
    const input = this.input
    this.offset = at + 4
    return (
      (input[at] as number) * 0x1000000 +
      (((input[at + 1] as number) << 16) | ((input[at + 2] as number) << 8) | (input[at + 3] as number))
    )
  }

  /** Reads a head; leaves the argument in #high and #low. Returns the major type. */
  #head(): number {
    const start = this.offset
    const first = this.input[start]
    if (first === undefined) throw this.#truncated()
    const info = first & 31
    this.offset = start + 1
    this.#high = 0
    if (info < 24) {
      this.#low = info
    } else if (info === 24) {
      this.#need(1)
      this.#low = this.input[this.offset++] as number
      if (this.#low < 24) throw this.#notCanonical(start)
    } else if (info === 25) {
      this.#need(2)
      this.#low = ((this.input[this.offset] as number) << 8) | (this.input[this.offset + 1] as number)
      this.offset += 2
      if (this.#low < 0x100) throw this.#notCanonical(start)
    } else if (info === 26) {
      this.#need(4)
      this.#low = this.#u32()
      if (this.#low < 0x10000) throw this.#notCanonical(start)
    } else if (info === 27) {
      this.#need(8)
      this.#high = this.#u32()
      this.#low = this.#u32()
      if (this.#high === 0) throw this.#notCanonical(start)
    } else {
      throw new CodecError('NOT_CANONICAL', 'Cannot read CBOR: indefinite length or reserved form', { offset: start })
    }
    return first >> 5
  }

  #notCanonical(offset: number): CodecError {
    return new CodecError('NOT_CANONICAL', 'cbor input was not canonical', { offset })
  }

  #argumentNumber(what: string): number {
    if (this.#high >= 0x200000) {
      throw new CodecError('OUT_OF_RANGE', `Cannot read ${what}: above 2^53-1`, { offset: this.offset })
    }
    return this.#high * TWO_32 + this.#low
  }

  #argumentBig(): bigint {
    return this.#high < 0x200000
      ? BigInt(this.#high * TWO_32 + this.#low)
      : (BigInt(this.#high) << 32n) | BigInt(this.#low)
  }

  #expect(major: number, what: string): void {
    const start = this.offset
    const got = this.#head()
    if (got !== major) throw wrongType(what, got, start)
  }

  /** @throws CodecError `WRONG_TYPE`, `TRUNCATED`, `NOT_CANONICAL` */
  readUint(): bigint {
    this.#expect(MAJOR_UINT, 'unsigned number')
    return this.#argumentBig()
  }

  /** An unsigned number that must be below 2^53. */
  readUintNumber(): number {
    this.#expect(MAJOR_UINT, 'unsigned number')
    return this.#argumentNumber('unsigned number')
  }

  /** A signed 64-bit number. */
  readInt(): bigint {
    const start = this.offset
    const major = this.#head()
    if (major !== MAJOR_UINT && major !== MAJOR_NEGATIVE) throw wrongType('number', major, start)
    if (this.#high >= 0x80000000) throw new CodecError('OUT_OF_RANGE', 'int64 positive overflow', { offset: start })
    const value = this.#argumentBig()
    return major === MAJOR_UINT ? value : -1n - value
  }

  /** A signed number whose magnitude must be below 2^53. */
  readIntNumber(): number {
    const start = this.offset
    const major = this.#head()
    if (major !== MAJOR_UINT && major !== MAJOR_NEGATIVE) throw wrongType('number', major, start)
    const value = this.#argumentNumber('number')
    return major === MAJOR_UINT ? value : -1 - value
  }

  #slice(): Uint8Array {
    const length = this.#argumentNumber('length')
    this.#need(length)
    const start = this.offset
    this.offset = start + length
    return this.input.subarray(start, this.offset)
  }

  /** A byte string, a view of the input. */
  readBytes(): Uint8Array {
    this.#expect(MAJOR_BYTES, 'byte string')
    return this.#slice()
  }

  readText(): string {
    this.#expect(MAJOR_TEXT, 'text string')
    return fromUtf8(this.#slice())
  }

  /** Length of an array whose items follow. Refuses a length that the rest of the input cannot hold. */
  readArray(): number {
    this.#expect(MAJOR_ARRAY, 'array')
    const length = this.#argumentNumber('array length')
    this.#need(length)
    return length
  }

  /** Number of pairs of a map that follow. */
  readMap(): number {
    this.#expect(MAJOR_MAP, 'map')
    const length = this.#argumentNumber('map length')
    this.#need(length * 2)
    return length
  }

  readTag(): number {
    this.#expect(MAJOR_TAG, 'tag')
    return this.#argumentNumber('tag')
  }

  readBool(): boolean {
    const first = this.input[this.offset]
    if (first === undefined) throw this.#truncated()
    if (first !== TRUE && first !== FALSE) throw wrongType('bool', first >> 5, this.offset)
    this.offset++
    return first === TRUE
  }

  readNull(): null {
    if (this.input[this.offset] !== NULL) throw wrongType('null', this.peekMajor(), this.offset)
    this.offset++
    return null
  }

  /** @throws CodecError `WRONG_TYPE`, `INVALID_CID` and what a CID throws */
  readCid(): Cid {
    const start = this.offset
    const tag = this.readTag()
    if (tag !== TAG_CID) {
      throw new CodecError('WRONG_TYPE', `Cannot read CID: expected tag 42, got ${tag}`, { offset: start })
    }
    this.#expect(MAJOR_BYTES, 'byte string')
    const length = this.#argumentNumber('length')
    this.#need(length)
    const at = this.offset
    if (length === 0 || this.input[at] !== 0) {
      throw new CodecError('INVALID_CID', 'Cannot read CID: no leading zero byte', { offset: start })
    }
    const { cid, next } = readCid(this.input, at + 1)
    if (next > at + length) throw new CodecError('TRUNCATED', 'length greater than remaining number of bytes in buffer')
    if (next < at + length) throw new CodecError('TRAILING_BYTES', 'trailing bytes in data buffer passed to cid Cast')
    this.offset = next
    return cid
  }

  /** Moves behind the next item, whatever it is. */
  skip(): void {
    this.#skip(0)
  }

  #skip(depth: number): void {
    if (depth > MAX_DEPTH) throw new CodecError('TOO_DEEP', `Cannot read CBOR: nested deeper than ${MAX_DEPTH}`)
    const start = this.offset
    const major = this.#head()
    if (major === MAJOR_BYTES || major === MAJOR_TEXT) {
      this.#slice()
    } else if (major === MAJOR_ARRAY || major === MAJOR_MAP) {
      const count = this.#argumentNumber('length') * (major === MAJOR_MAP ? 2 : 1)
      this.#need(count)
      for (let i = 0; i < count; i++) this.#skip(depth + 1)
    } else if (major === MAJOR_TAG) {
      this.#skip(depth + 1)
    } else if (major === MAJOR_SIMPLE) {
      const first = this.input[start] as number
      if (first !== FALSE && first !== TRUE && first !== NULL) {
        throw new CodecError('NOT_SUPPORTED', 'Cannot read CBOR: a float or an unassigned simple value', {
          offset: start,
        })
      }
    }
  }

  /** The bytes of the next item as they are, a view. */
  readRaw(): Uint8Array {
    const start = this.offset
    this.skip()
    return this.input.subarray(start, this.offset)
  }

  /** @throws CodecError `TRAILING_BYTES` unless everything was read */
  end(): void {
    if (this.offset !== this.input.length) {
      throw new CodecError(
        'TRAILING_BYTES',
        `Cannot read CBOR: ${this.input.length - this.offset} bytes behind the value`,
      )
    }
  }
}
