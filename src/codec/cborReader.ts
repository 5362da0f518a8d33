/**
 * DAG-CBOR, strict: shortest integer and length forms, definite lengths, tag 42 alone, no floats.
 * Lenient scans (the machine's link scan) must not use this reader.
 * @see RFC 8949; whyrusleeping/cbor-gen CborReadHeader; ipld DAG-CBOR specification
 */
import { fromUtf8 } from '../base/bytes.ts'
import {
  FALSE,
  MAJOR_ARRAY,
  MAJOR_BYTES,
  MAJOR_MAP,
  MAJOR_NEGATIVE,
  MAJOR_SIMPLE,
  MAJOR_TAG,
  MAJOR_TEXT,
  MAJOR_UINT,
  NULL,
  TAG_CID,
  TRUE,
  TWO_32,
} from './cbor.ts'
import { type Cid, isUsualCid, readCid } from './cid.ts'
import { CodecError } from './errors.ts'
import { MAX_CBOR_DEPTH } from './limits.ts'

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
    const start = this.offset
    this.#pass()
    return this.input.subarray(start, this.offset)
  }

  /** Moves behind the bytes whose length was just read. A view of what nobody looks at would be most of a walk's garbage. */
  #pass(): void {
    const length = this.#argumentNumber('length')
    this.#need(length)
    this.offset += length
  }

  /** A byte string, a view of the input. */
  readBytes(): Uint8Array {
    this.#expect(MAJOR_BYTES, 'byte string')
    return this.#slice()
  }

  /** @throws CodecError `INVALID_UTF8`, and as {@link CborReader.readBytes} */
  readText(): string {
    const start = this.offset
    this.#expect(MAJOR_TEXT, 'text string')
    const raw = this.#slice()
    try {
      return fromUtf8(raw)
    } catch (cause) {
      throw new CodecError('INVALID_UTF8', (cause as Error).message, { offset: start }, { cause })
    }
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

  /**
   * Moves behind a CID without making it.
   * @throws CodecError as {@link CborReader.readCid}
   */
  skipCid(): void {
    const { input, offset } = this
    // Tag 42, 39 bytes, the leading zero, and then what nearly every CID of the chain is.
    const isUsual =
      input[offset] === 0xd8 &&
      input[offset + 1] === TAG_CID &&
      input[offset + 2] === 0x58 &&
      input[offset + 3] === 39 &&
      input[offset + 4] === 0 &&
      isUsualCid(input, offset + 5)
    if (isUsual) this.offset = offset + 43
    else this.readCid()
  }

  /** Moves behind the next item, whatever it is. */
  skip(): void {
    this.#skip(0)
  }

  #skip(depth: number): void {
    if (depth > MAX_CBOR_DEPTH)
      throw new CodecError('TOO_DEEP', `Cannot read CBOR: nested deeper than ${MAX_CBOR_DEPTH}`)
    const start = this.offset
    const major = this.#head()
    if (major === MAJOR_BYTES || major === MAJOR_TEXT) {
      this.#pass()
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
