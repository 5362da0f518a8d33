/**
 * Form of a field element in memory: signed limbs, lowest first, in Montgomery form with R = 2^392. Two forms: 14 limbs of 28
 * bits, each in 32 bits, behind them 8 bytes of nothing; or 8 of 49 bits, each a whole number in a double.
 *
 * A *reduced* element has limbs of half that range (from -2^27 to 2^27 - 1; see `floatFieldCode.ts`) and lies between -p and p;
 * zero is all zeros. Sums and differences are made limb by limb without carries; a sum of k reduced elements has limbs k times
 * as large. What a function takes is said in these k.
 */

/** Characteristic of the base field, 381 bits. @see draft-irtf-cfrg-pairing-friendly-curves section 4.2.1 */
export const FIELD_PRIME: bigint =
  0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaabn
/** |z|, the parameter of the curve family. z is negative, and p = z modulo r. */
export const PARAMETER = 0xd201000000010000n
/** Bytes of a coordinate. */
export const COORDINATE_LENGTH = 48

/** One form of limbs. */
export interface LimbForm {
  readonly count: number
  readonly bits: number
  /** Bytes of all limbs; of an element {@link ELEMENT_BYTES}. */
  readonly bytes: number
}

/** In 32-bit integers: works wherever WebAssembly has vectors. */
export const INTEGER_LIMBS: LimbForm = { count: 14, bits: 28, bytes: 56 }
/** In doubles: faster, where `hasFusedMultiplyAdd` says so. */
export const FLOAT_LIMBS: LimbForm = { count: 8, bits: 49, bytes: 64 }
/** Bytes of an element in memory, and of one of Fp2. */
export const ELEMENT_BYTES = 64
export const PAIR_BYTES = 128
/** R. */
export const MONTGOMERY: bigint = 1n << 392n

/** Limbs of a number from -2^391 to 2^391 - 1; each from -2^(bits-1) to 2^(bits-1) - 1. */
export function toLimbs(value: bigint, { count, bits }: LimbForm): number[] {
  let rest = value
  return Array.from({ length: count }, () => {
    const limb = BigInt.asIntN(bits, rest)
    rest = (rest - limb) >> BigInt(bits)
    return Number(limb)
  })
}
