/**
 * Form of a field element in memory: 14 signed limbs of 28 bits, each in 32 bits, lowest first, behind them 8 bytes of
 * nothing (so that four limbs at a time can be added). In Montgomery form with R = 2^392.
 *
 * A *reduced* element has limbs from -2^27 to 2^27 - 1 and lies between -p and p. Sums and differences are made limb by
 * limb without carries; a sum of k reduced elements has limbs below k 2^27. What a function takes is said in these k.
 */

/** Characteristic of the base field, 381 bits. @see draft-irtf-cfrg-pairing-friendly-curves section 4.2.1 */
export const FIELD_PRIME: bigint =
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn
/** |z|, the parameter of the curve family. z is negative, and p = z modulo r. */
export const PARAMETER = 0xd201000000010000n
/** Bytes of a coordinate. */
export const COORDINATE_LENGTH = 48

export const LIMBS = 14
export const LIMB_BITS = 28
/** Bytes of an element in memory, and of one of Fp2. */
export const ELEMENT_BYTES = 64
export const PAIR_BYTES = 128
/** R. */
export const MONTGOMERY: bigint = 1n << BigInt(LIMBS * LIMB_BITS)

/** Limbs of a number from -2^391 to 2^391 - 1; each from -2^27 to 2^27 - 1. */
export function toLimbs(value: bigint): number[] {
  let rest = value
  return Array.from({ length: LIMBS }, () => {
    const limb = BigInt.asIntN(LIMB_BITS, rest)
    rest = (rest - limb) >> BigInt(LIMB_BITS)
    return Number(limb)
  })
}
