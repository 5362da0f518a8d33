/** Random access to bytes that may be too many for memory: a file, a mapped file, an array. Synchronous. */
import { CodecError } from './errors.ts'

/** Bytes that can be read at any place. What `read` returns must not be written to. */
export interface ByteSource {
  /** Bytes in all. */
  readonly size: number
  /** Where its first byte lies in the file that it is a part of, or each of its bytes; undefined: it is the whole. */
  readonly origin?: number | ((offset: number) => number)
  /** The bytes from `offset` on: `length` of them, fewer only at the end. */
  read(offset: number, length: number): Uint8Array
  /** The same into the caller's memory, where that saves making some; undefined: it saves nothing. @returns how many bytes */
  readonly fill?: (offset: number, into: Uint8Array) => number
}

/** A source of bytes in memory; reads are views. */
export function memorySource(data: Uint8Array): ByteSource {
  // A Buffer of Node must not get in: its `slice` gives a view where everybody here expects a copy.
  const plain = data.constructor === Uint8Array ? data : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return { size: plain.length, read: (offset, length) => plain.subarray(offset, offset + length) }
}

/** The byte of the whole file that `offset` of a source is. */
export function placeIn({ origin = 0 }: ByteSource, offset: number): number {
  return typeof origin === 'number' ? origin + offset : origin(offset)
}

/** A part of a source as a source of its own. */
export function sliceSource(source: ByteSource, start: number, length: number): ByteSource {
  const size = Math.max(0, Math.min(length, source.size - start))
  return {
    size,
    origin: placeIn(source, start),
    read: (offset, count) => source.read(start + offset, Math.max(0, Math.min(count, size - offset))),
  }
}

/** Bytes that {@link readAhead} fetches at a time: a system call costs as much as copying some hundred kilobytes. */
const WINDOW = 1 << 20

/** The same source for reading from front to back in small steps: one read of the source below brings many. */
export function readAhead(source: ByteSource, window: number = WINDOW): ByteSource {
  let start = 0
  let held: Uint8Array = new Uint8Array(0)
  return {
    size: source.size,
    origin: placeIn(source, 0),
    read: (offset, length) => {
      const end = Math.min(offset + length, source.size)
      if (offset < start || end > start + held.length) {
        if (length > window) return source.read(offset, length)
        start = offset
        held = source.read(offset, window)
      }
      return held.subarray(offset - start, end - start)
    },
  }
}

/**
 * Exactly `length` bytes.
 * @throws CodecError `TRUNCATED`
 */
export function readExactly(source: ByteSource, offset: number, length: number): Uint8Array {
  const data = source.read(offset, length)
  if (data.length !== length) {
    throw new CodecError('TRUNCATED', `Cannot read ${length} bytes at ${offset}: the source ends at ${source.size}`)
  }
  return data
}
