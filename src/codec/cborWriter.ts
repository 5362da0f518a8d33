/** Writes DAG-CBOR: shortest forms, definite lengths. @see RFC 8949; ipld DAG-CBOR specification */
import { utf8 } from '../base/bytes.ts'
import {
  FALSE,
  MAJOR_ARRAY,
  MAJOR_BYTES,
  MAJOR_MAP,
  MAJOR_NEGATIVE,
  MAJOR_TAG,
  MAJOR_TEXT,
  MAJOR_UINT,
  NULL,
  TAG_CID,
  TRUE,
  TWO_32,
} from './cbor.ts'
import type { Cid } from './cid.ts'
import { CodecError } from './errors.ts'

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
    if (value.length <= SHORT && this.#asciiText(value)) return
    const bytes = utf8(value)
    this.head(MAJOR_TEXT, bytes.length)
    this.raw(bytes)
  }

  /** Names of fields and keys of events: an encoder takes ten times as long. @returns whether it was nothing else */
  #asciiText(value: string): boolean {
    const { length } = value
    const start = this.#at
    this.head(MAJOR_TEXT, length)
    this.#reserve(length)
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) {
        this.#at = start
        return false
      }
      this.#buffer[this.#at++] = code
    }
    return true
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
    const { key } = value
    this.head(MAJOR_BYTES, key.length + 1)
    this.#reserve(key.length + 1)
    const buffer = this.#buffer
    buffer[this.#at++] = 0
    for (let i = 0; i < key.length; i++) buffer[this.#at++] = key.charCodeAt(i)
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

/** Size at which an idle writer's buffer is kept, bytes: holds nearly every object of the chain. */
const WRITER_BYTES = 8192

/** Idle writers: allocating and growing a buffer costs more than writing a header into it. What is written may itself be written from other parts, so one is not enough. */
const idleWriters: CborWriter[] = []

const MAX_IDLE_WRITERS = 4

/** What `write` writes, in a buffer of its own. */
export function written(write: (writer: CborWriter) => void): Uint8Array {
  const writer = idleWriters.pop() ?? new CborWriter(WRITER_BYTES)
  try {
    write(writer)
    return writer.finish()
  } finally {
    writer.reset(WRITER_BYTES)
    if (idleWriters.length < MAX_IDLE_WRITERS) idleWriters.push(writer)
  }
}

function outOfRange(what: string, value: number | bigint): CodecError {
  return new CodecError('OUT_OF_RANGE', `Cannot write ${what}: ${value} does not fit`)
}
