/** Scalars as signed digits, all windows of all scalars in one array. */

const WORDS = 8
const MAX_WINDOW = 13

/**
 * The window with which a sum of `count` points times scalars of so many bits needs the fewest additions.
 * @param bucketCost - what emptying one bucket costs, in additions of a point
 */
export function windowFor(count: number, bits: number, bucketCost: number): number {
  const cost = (window: number): number => Math.ceil((bits + 1) / window) * (count + bucketCost * 2 ** (window - 1))
  let best = 2
  for (let window = 3; window <= MAX_WINDOW; window++) if (cost(window) < cost(best)) best = window
  return best
}

/**
 * @param scalars - below 2^(bits)
 * @param window - bits of a digit, at most 15
 * @returns for each scalar `ceil((bits + 1) / window)` digits from -2^(window-1) to 2^(window-1), lowest first
 */
export function signedDigits(scalars: readonly bigint[], bits: number, window: number): Int16Array {
  const count = Math.ceil((bits + 1) / window)
  const digits = new Int16Array(scalars.length * count)
  const words = new Uint32Array(WORDS + 1)
  const used = Math.ceil(bits / 32)
  const [mask, half] = [2 ** window - 1, 2 ** (window - 1)]
  let at = 0
  for (const scalar of scalars) {
    if (used === 1) words[0] = Number(scalar)
    else for (let i = 0, rest = scalar; i < used; i++, rest >>= 32n) words[i] = Number(BigInt.asUintN(32, rest))
    let carry = 0
    for (let i = 0; i < count; i++) {
      const bit = i * window
      const [word, shift] = [bit >>> 5, bit & 31]
      let part = (words[word] ?? 0) >>> shift
      if (shift + window > 32) part |= (words[word + 1] ?? 0) << (32 - shift)
      const digit = (part & mask) + carry
      carry = digit > half ? 1 : 0
      digits[at++] = digit - carry * 2 ** window
    }
  }
  return digits
}
