/** Factors of the Frobenius map x -> x^p of Fp12 = Fp2[w]/(w^6 - (1 + u)). */
import { FIELD_PRIME as P } from './limbs.ts'

type Fp2 = readonly [bigint, bigint]

function multiply([a0, a1]: Fp2, [b0, b1]: Fp2): Fp2 {
  const real = (a0 * b0 - a1 * b1) % P
  return [real < 0n ? real + P : real, (a0 * b1 + a1 * b0) % P]
}

function power(base: Fp2, exponent: bigint): Fp2 {
  let result: Fp2 = [1n, 0n]
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = multiply(result, square)
    square = multiply(square, square)
  }
  return result
}

/**
 * For each coordinate over Fp2 in the order of the tower (1, w^2, w^4, w, w^3, w^5): what its conjugate is multiplied by,
 * (1 + u)^(k (p - 1) / 6) for the power w^k.
 */
export function frobeniusFactors(): readonly Fp2[] {
  const root = power([1n, 1n], (P - 1n) / 6n)
  return [0n, 2n, 4n, 1n, 3n, 5n].map((k) => power(root, k))
}
