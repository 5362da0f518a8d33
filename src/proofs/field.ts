/** The scalar field of BLS12-381: public inputs, challenges and weights. */
import { bytesToBigInt } from '../base/bytes.ts'
import { ProofError } from './errors.ts'

/** Order of the groups, 255 bits. @see draft-irtf-cfrg-pairing-friendly-curves section 4.2.1 */
export const ORDER: bigint = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n
/** Bytes of an element. */
const SCALAR_LENGTH = 32

/** `value` reduced to 0 … r-1. */
export function reduce(value: bigint): bigint {
  const rest = value % ORDER
  return rest < 0n ? rest + ORDER : rest
}

/** Unsigned number of little-endian bytes. */
export function littleEndian(bytes: Uint8Array): bigint {
  return bytesToBigInt(Uint8Array.from(bytes).reverse())
}

/** 32 bytes, little-endian. @param value - 0 … 2^256-1 */
export function scalarBytes(value: bigint): Uint8Array {
  const out = new Uint8Array(SCALAR_LENGTH)
  const words = new DataView(out.buffer)
  for (let i = 0, rest = value; i < 4; i++, rest >>= 64n) words.setBigUint64(8 * i, rest & 0xffff_ffff_ffff_ffffn, true)
  return out
}

/**
 * The element that 32 little-endian bytes are.
 * @param what - name of the input, for the error
 * @throws ProofError `INVALID_INPUT` when there are not 32 bytes or the number is not below r
 * @see filecoin-proofs commitment_from_fr, as_safe_commitment
 */
export function toScalar(bytes: Uint8Array, what: string): bigint {
  const value = bytes.length === SCALAR_LENGTH ? littleEndian(bytes) : ORDER
  if (value >= ORDER) throw new ProofError('INVALID_INPUT', `Cannot use ${what}: not 32 bytes of a field element`)
  return value
}

/**
 * As {@link toScalar}, for a commitment that must not be zero.
 * @throws ProofError `INVALID_INPUT`
 */
export function toCommitment(bytes: Uint8Array, what: string): bigint {
  const value = toScalar(bytes, what)
  if (value === 0n) throw new ProofError('INVALID_INPUT', `Cannot use ${what}: all zero`)
  return value
}

/** `base` to the power of `exponent` (not negative). */
export function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % ORDER
    square = (square * square) % ORDER
  }
  return result
}

/** The inverse of a number that is not zero modulo a prime. By Euclid: some 20 times faster than a power. */
export function invertModulo(value: bigint, prime: bigint): bigint {
  let [a, b] = [value % prime, prime]
  let [x, y] = [1n, 0n]
  while (a !== 1n) {
    const quotient = b / a
    ;[a, b] = [b % a, a]
    ;[x, y] = [y - quotient * x, x]
  }
  return x < 0n ? x + prime : x
}

/** The inverse of a non-zero element. */
export function invert(value: bigint): bigint {
  return invertModulo(value, ORDER)
}
