/**
 * What the bytes of a compressed point must look like before any arithmetic: so that every back end refuses the same.
 * @see blstrs g1.rs G1Affine::from_compressed, g2.rs G2Affine::from_compressed (blst's POINTonE1_Uncompress_Z)
 */
import { bytesToBigInt } from '../../base/bytes.ts'
import { COORDINATE_LENGTH, FIELD_PRIME } from './limbs.ts'

/** Flags in the first byte of a point. Compressed: x alone; none that we read lacks it. */
export const COMPRESSED = 0x80
/** The point at infinity: all else is zero. */
export const INFINITY = 0x40
/** Of the two roots, y is the larger one. */
export const LARGER = 0x20
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

/** Coordinate `index` of a sound encoding, without flags. */
export function encodedCoordinate(bytes: Uint8Array, index: number): Uint8Array {
  const coordinate = bytes.slice(index * COORDINATE_LENGTH, (index + 1) * COORDINATE_LENGTH)
  if (index === 0) coordinate[0] = (coordinate[0] as number) & ~FLAGS
  return coordinate
}

/** Coordinate `index` of little-endian ones, big-endian. */
export function encodedLittleEndian(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.slice(index * COORDINATE_LENGTH, (index + 1) * COORDINATE_LENGTH).reverse()
}
