/**
 * Unsigned LEB128 as multiformats defines it: at most 9 bytes, shortest form only.
 * @see multiformats/go-varint FromUvarint (rejects padded forms, where js-multiformats accepts them)
 */
import { CodecError } from './errors.ts'

/** A varint that was read. */
export interface Varint {
  /** The number; exact below 2^53. */
  readonly value: number
  /** Offset of the byte behind it. */
  readonly next: number
}

/** Of a varint of 63 bits, as go-varint reads it. */
export const MAX_VARINT_BYTES = 9
/** Of 64 bits. */
const MAX_WIDE_BYTES = 10
/** Whose 49 bits a number holds. */
const SMALL_BYTES = 7

/**
 * Reads a varint below 2^53.
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL` (padded), `OUT_OF_RANGE`
 */
export function readVarint(bytes: Uint8Array, offset: number): Varint {
  const read = readRoundedVarint(bytes, offset)
  if (read.value <= Number.MAX_SAFE_INTEGER) return read
  throw new CodecError('OUT_OF_RANGE', 'Cannot read varint: above 2^53-1', { offset })
}

/**
 * Reads a varint of up to 63 bits of which only small numbers are told apart: from 2^53 on the value is rounded.
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL`, `OUT_OF_RANGE`
 */
export function readRoundedVarint(bytes: Uint8Array, offset: number): Varint {
  let value = 0
  let scale = 1
  for (let i = 0; i < MAX_VARINT_BYTES; i++) {
    const byte = bytes[offset + i]
    if (byte === undefined) throw new CodecError('TRUNCATED', 'varints malformed, could not reach the end', { offset })
    value += (byte & 0x7f) * scale
    if (byte < 0x80) {
      if (byte === 0 && i > 0) throw new CodecError('NOT_CANONICAL', 'varint not minimally encoded', { offset })
      return { value, next: offset + i + 1 }
    }
    scale *= 128
  }
  throw new CodecError('OUT_OF_RANGE', 'varints larger than uint63 not supported', { offset })
}

/**
 * Reads a varint of up to 64 bits (10 bytes), as the payload of an ID address holds.
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL`, `OUT_OF_RANGE`
 */
export function readVarint64(bytes: Uint8Array, offset: number): { value: bigint; next: number } {
  let small = 0
  let value = 0n
  for (let i = 0; i < MAX_WIDE_BYTES; i++) {
    const byte = bytes[offset + i]
    if (byte === undefined) throw new CodecError('TRUNCATED', 'varints malformed, could not reach the end', { offset })
    // Nearly all are short.
    if (i < SMALL_BYTES) small += (byte & 0x7f) * 2 ** (7 * i)
    else value |= BigInt(byte & 0x7f) << BigInt(7 * i)
    if (byte < 0x80) {
      if (byte === 0 && i > 0) throw new CodecError('NOT_CANONICAL', 'varint not minimally encoded', { offset })
      if (i < SMALL_BYTES) return { value: BigInt(small), next: offset + i + 1 }
      value |= BigInt(small)
      if (value >= 1n << 64n) break
      return { value, next: offset + i + 1 }
    }
  }
  throw new CodecError('OUT_OF_RANGE', 'Cannot read varint: above 2^64-1', { offset })
}

/**
 * Reads a varint as the machine's libraries do: of a tenth byte only the lowest bit counts, others are lost.
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL`, `OUT_OF_RANGE` (more than ten bytes)
 * @see paritytech/unsigned-varint src/decode.rs u64, src/io.rs read_u64
 */
export function readWrappingVarint(bytes: Uint8Array, offset: number): { value: bigint; next: number } {
  let value = 0n
  for (let i = 0; i < MAX_WIDE_BYTES; i++) {
    const byte = bytes[offset + i]
    if (byte === undefined) throw new CodecError('TRUNCATED', 'not enough input bytes', { offset })
    value |= BigInt(byte & 0x7f) << BigInt(7 * i)
    if (byte >= 0x80) continue
    if (byte === 0 && i > 0) throw new CodecError('NOT_CANONICAL', 'encoding is not minimal', { offset })
    return { value: BigInt.asUintN(64, value), next: offset + i + 1 }
  }
  throw new CodecError('OUT_OF_RANGE', 'input bytes exceed maximum', { offset })
}

/** How many bytes the varint at `offset` has, 10 also for longer ones. Beyond nine {@link readWrappingVarint} alone reads it. */
export function varintSize(bytes: Uint8Array, offset: number): number {
  let size = 1
  while (size < MAX_WIDE_BYTES && (bytes[offset + size - 1] ?? 0) >= 0x80) size++
  return size
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
