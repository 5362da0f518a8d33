/** Product of powers with the squarings shared (Straus), for groups in which the inverse costs nothing. */

/** Operations of the group. */
export interface Group<T> {
  readonly one: T
  multiply(a: T, b: T): T
  square(a: T): T
  invert(a: T): T
}

/** Bits of a window: odd multiples up to 15 of every base are made. */
const WIDTH = 5

/** Signed digits of width {@link WIDTH}: position of each non-zero digit, odd and below 2^(WIDTH-1) in size. */
function signedDigits(exponent: bigint): Map<number, number> {
  const digits = new Map<number, number>()
  const span = 1 << WIDTH
  let at = 0
  for (let rest = exponent; rest > 0n; ) {
    const low = Number(BigInt.asUintN(WIDTH, rest))
    if (low % 2 === 0) {
      rest >>= 1n
      at++
      continue
    }
    const digit = low >= span / 2 ? low - span : low
    digits.set(at, digit)
    rest = (rest - BigInt(digit)) >> BigInt(WIDTH)
    at += WIDTH
  }
  return digits
}

/** @param exponents - not negative, as many as bases */
export function productOfPowers<T>(bases: readonly T[], exponents: readonly bigint[], group: Group<T>): T {
  const digits = exponents.map(signedDigits)
  const multiples = bases.map((base) => {
    const odd = [base]
    const double = group.square(base)
    for (let k = 1; k < 1 << (WIDTH - 2); k++) odd.push(group.multiply(odd[k - 1] as T, double))
    return odd
  })
  const top = Math.max(-1, ...digits.flatMap((row) => [...row.keys()]))
  let product = group.one
  for (let at = top; at >= 0; at--) {
    if (at < top) product = group.square(product)
    for (let i = 0; i < bases.length; i++) {
      const digit = digits[i]?.get(at)
      if (digit === undefined) continue
      const factor = multiples[i]?.[(Math.abs(digit) - 1) / 2] as T
      product = group.multiply(product, digit < 0 ? group.invert(factor) : factor)
    }
  }
  return product
}
