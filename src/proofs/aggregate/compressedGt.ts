/**
 * Elements of the target group in half their length: b stands for (b + w) / (b - w), with Fp12 = Fp6[w]/(w^2 - v).
 * @see blstrs gt.rs Gt::read_compressed (torus-based compression)
 */
import { concatBytes } from '../../base/bytes.ts'
import { COORDINATE_LENGTH, FIELD_PRIME } from '../../crypto/bls12381/limbs.ts'
import { type Curve, GT_LENGTH, type Gt } from '../curve/curve.ts'
import { littleEndian } from '../field.ts'

/** Six coordinates of 48 bytes, little-endian. */
export const COMPRESSED_GT_LENGTH: number = GT_LENGTH / 2

/** w as the upper half of the twelve coordinates. */
const W = new Uint8Array(COMPRESSED_GT_LENGTH)
W[0] = 1

/** @returns undefined when a coordinate is not below p or the value is not in the subgroup of order r */
export function readCompressedGt(bytes: Uint8Array, curve: Curve): Gt | undefined {
  for (let at = 0; at < bytes.length; at += COORDINATE_LENGTH) {
    if (littleEndian(bytes.subarray(at, at + COORDINATE_LENGTH)) >= FIELD_PRIME) return undefined
  }
  // b - w is the conjugate of b + w, and never zero.
  const value = curve.overConjugate(curve.readGt(concatBytes(bytes, W)))
  return curve.isInGt(value) ? value : undefined
}
