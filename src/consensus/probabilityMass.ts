/** Mass functions of two distributions, in doubles: relative error about 1e-12. */

/** From here on Stirling's series is exact to the last bits. */
const STIRLING_FROM = 32
const HALF_LOG_TWO_PI = 0.9189385332046728

/** Logarithms of the first factorials; their sums are exact enough. */
const SMALL: readonly number[] = Array.from({ length: STIRLING_FROM }, (_, n) => {
  let product = 1
  for (let i = 2; i <= n; i++) product *= i
  return Math.log(product)
})

/** ln n!; n a whole number, 0 or more. */
function logFactorial(n: number): number {
  const small = SMALL[n]
  if (small !== undefined) return small
  const x = n + 1
  const square = 1 / (x * x)
  const tail = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / x
  return (x - 0.5) * Math.log(x) - x + HALF_LOG_TWO_PI + tail
}

/** P(X = k) of a Poisson distribution. @param rate - expected value, above 0 */
export function poissonMass(rate: number, k: number): number {
  return Math.exp(k * Math.log(rate) - rate - logFactorial(k))
}

/**
 * P(X - Y = k) for k from 0 to `most`, of two independent Poisson distributions.
 * @param plus - expected value of X
 * @param minus - of Y
 */
export function skellamMasses(most: number, plus: number, minus: number): Float64Array {
  const out = new Float64Array(most + 1)
  for (let k = 0; k <= most; k++) {
    let term = Math.exp(k * Math.log(plus) - plus - minus - logFactorial(k))
    let total = term
    // Terms grow until (k + j) j passes the product of the rates, then vanish.
    for (let j = 1; ; j++) {
      term *= (plus * minus) / ((k + j) * j)
      total += term
      if ((k + j) * j > plus * minus && term <= total * 1e-18) break
    }
    out[k] = total
  }
  return out
}
