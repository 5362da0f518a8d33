/**
 * The float64 nearest to a quotient of integers, ties to even: what Go's `big.Rat.Float64` gives. Dividing two rounded
 * floats would differ in the last bit and so order two chains of messages differently.
 * @param numerator - any size
 * @param denominator - positive
 */
export function nearestNumber(numerator: bigint, denominator: bigint): number {
  const negative = numerator < 0n
  const size = negative ? -numerator : numerator
  if (size <= SAFE && denominator <= SAFE) {
    const quotient = Number(size) / Number(denominator)
    return negative ? -quotient : quotient
  }
  const shift = BigInt(Math.max(0, bitLength(denominator) - bitLength(size) + 66))
  const scaled = size << shift
  let quotient = scaled / denominator
  // a sticky bit below the 53 that count keeps a remainder from looking like a tie
  if (quotient * denominator !== scaled) quotient |= 1n
  const result = Number(quotient) / 2 ** Number(shift)
  return negative ? -result : result
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Of a positive number. By its hexadecimal digits: in binary they took a fifth of the time of choosing a block's messages. */
function bitLength(value: bigint): number {
  const digits = value.toString(16)
  return digits.length * 4 - Math.clz32(Number.parseInt(digits[0] as string, 16)) + 28
}
