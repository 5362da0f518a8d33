/**
 * What the bytes of a compressed point must look like before any arithmetic: so that every back end refuses the same.
 * @see blstrs g1.rs G1Affine::from_compressed, g2.rs G2Affine::from_compressed (blst's POINTonE1_Uncompress_Z)
 */
import { bytesToBigInt } from '../../base/bytes.ts'

/** Characteristic of the base field, 381 bits. */
export const FIELD_PRIME: bigint =
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn
/** |z|, the parameter of the curve family. z is negative, and p = z modulo r. */
export const PARAMETER: bigint = 0xd201000000010000n
/** Bytes of a coordinate. */
export const COORDINATE_LENGTH = 48

const COMPRESSED = 0x80
const INFINITY = 0x40
const FLAGS = 0xe0

/**
 * Whether the flags of a compressed point are sound and its coordinates below p.
 * @param bytes - coordinates of 48 bytes, big-endian, the first with the flags in its three top bits
 */
export function isSoundEncoding(bytes: Uint8Array, length: number): boolean {
  const first = bytes[0]
  if (bytes.length !== length || first === undefined || (first & COMPRESSED) === 0) return false
  if ((first & INFINITY) !== 0) {
    return first === (COMPRESSED | INFINITY) && bytes.subarray(1).every((byte) => byte === 0)
  }
  for (let at = 0; at < length; at += COORDINATE_LENGTH) {
    const coordinate = bytes.slice(at, at + COORDINATE_LENGTH)
    if (at === 0) coordinate[0] = first & ~FLAGS
    if (bytesToBigInt(coordinate) >= FIELD_PRIME) return false
  }
  return true
}
