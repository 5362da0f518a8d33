/**
 * The float64 nearest to a quotient of integers, ties to even: what Go's `big.Rat.Float64` gives. Dividing two rounded
 * floats would differ in the last bit and so order two chains of messages differently.
 * @param numerator - below 2^1000
 * @param denominator - positive, below 2^64
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

const float = new DataView(new ArrayBuffer(8))
const EXPONENT_BIAS = 1022

/** Of a positive number, or one more; what no float holds has 1025. From its exponent, which costs less than its digits. */
function bitLength(value: bigint): number {
  float.setFloat64(0, Number(value))
  return (float.getUint16(0) >> 4) - EXPONENT_BIAS
}
