/** Random access to bytes that may be too many for memory: a file, a mapped file, an array. Synchronous. */
import { CodecError } from './errors.ts'

/** Bytes that can be read at any place. What `read` returns must not be written to. */
export interface ByteSource {
  /** Bytes in all. */
  readonly size: number
  /** The bytes from `offset` on: `length` of them, fewer only at the end. */
  read(offset: number, length: number): Uint8Array
}

/** A source of bytes in memory; reads are views. */
export function memorySource(data: Uint8Array): ByteSource {
  // A Buffer of Node must not get in: its `slice` gives a view where everybody here expects a copy.
  const plain = data.constructor === Uint8Array ? data : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return { size: plain.length, read: (offset, length) => plain.subarray(offset, offset + length) }
}

/** A part of a source as a source of its own. */
export function sliceSource(source: ByteSource, start: number, length: number): ByteSource {
  const size = Math.max(0, Math.min(length, source.size - start))
  return {
    size,
    read: (offset, count) => source.read(start + offset, Math.max(0, Math.min(count, size - offset))),
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
