/** Integer division that rounds towards negative infinity, as Rust's `div_floor`; BigInt's `/` truncates. */
export function floorDivide(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  return quotient * denominator !== numerator && numerator < 0n !== denominator < 0n ? quotient - 1n : quotient
}
