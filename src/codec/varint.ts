/**
 * Unsigned LEB128 as multiformats defines it: at most 9 bytes, shortest form only.
 * @see multiformats/go-varint FromUvarint (rejects padded forms, where js-multiformats accepts them)
 */
import { CodecError } from './errors.ts'

/** A varint that was read. */
export interface Varint {
  /** The number; exact because anything above 2^53-1 is refused here. */
  readonly value: number
  /** Offset of the byte behind it. */
  readonly next: number
}

const MAX_BYTES = 9

/**
 * Reads a varint below 2^53.
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL` (padded), `OUT_OF_RANGE`
 */
export function readVarint(bytes: Uint8Array, offset: number): Varint {
  let value = 0
  let scale = 1
  for (let i = 0; i < MAX_BYTES; i++) {
    const byte = bytes[offset + i]
    if (byte === undefined) throw new CodecError('TRUNCATED', 'varints malformed, could not reach the end', { offset })
    value += (byte & 0x7f) * scale
    if (value > Number.MAX_SAFE_INTEGER) break
    if (byte < 0x80) {
      if (byte === 0 && i > 0) throw new CodecError('NOT_CANONICAL', 'varint not minimally encoded', { offset })
      return { value, next: offset + i + 1 }
    }
    scale *= 128
  }
  throw new CodecError('OUT_OF_RANGE', 'Cannot read varint: above 2^53-1', { offset })
}

/**
 * Reads a varint of up to 64 bits (10 bytes), as the payload of an ID address holds.
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL`, `OUT_OF_RANGE`
 */
export function readVarint64(bytes: Uint8Array, offset: number): { value: bigint; next: number } {
  let value = 0n
  for (let i = 0; i < 10; i++) {
    const byte = bytes[offset + i]
    if (byte === undefined) throw new CodecError('TRUNCATED', 'varints malformed, could not reach the end', { offset })
    value |= BigInt(byte & 0x7f) << BigInt(7 * i)
    if (byte < 0x80) {
      if (byte === 0 && i > 0) throw new CodecError('NOT_CANONICAL', 'varint not minimally encoded', { offset })
      if (value >= 1n << 64n) break
      return { value, next: offset + i + 1 }
    }
  }
  throw new CodecError('OUT_OF_RANGE', 'Cannot read varint: above 2^64-1', { offset })
}

/** Bytes that {@link writeVarint} needs for `value`. */
export function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++
  return length
}

/** Writes a varint into `out` at `offset`; returns the offset behind it. */
export function writeVarint(value: number, out: Uint8Array, offset: number): number {
  let rest = value
  let at = offset
  while (rest >= 128) {
    out[at++] = (rest % 128) | 0x80
    rest = Math.floor(rest / 128)
  }
  out[at++] = rest
  return at
}

/** Bytes of an unsigned number of up to 64 bits. */
export function varintBytes(value: bigint | number): Uint8Array {
  const out: number[] = []
  let rest = BigInt(value)
  if (rest < 0n || rest >= 1n << 64n)
    throw new CodecError('OUT_OF_RANGE', 'Cannot write varint: not an unsigned 64-bit number')
  while (rest >= 128n) {
    out.push(Number(rest & 127n) | 0x80)
    rest >>= 7n
  }
  out.push(Number(rest))
  return Uint8Array.from(out)
}
