/**
 * Unsigned numbers of 64 bits that are nearly always small (positions in bit fields, sector numbers): a number where that is exact,
 * a bigint from 2^53 on. Each has one form, so `===`, `<` and maps tell them apart as they are.
 */
export type WideNumber = number | bigint

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** The form of a number that fits. */
export function wideNumber(value: bigint): WideNumber {
  return value <= MAX_SAFE ? Number(value) : value
}

/** Their sum; of 2^64 and more too: see {@link isUint64}. */
export function plus(a: WideNumber, b: WideNumber): WideNumber {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (sum <= Number.MAX_SAFE_INTEGER) return sum
  }
  return wideNumber(BigInt(a) + BigInt(b))
}

/** @param b - not above `a` */
export function minus(a: WideNumber, b: WideNumber): WideNumber {
  return typeof a === 'number' && typeof b === 'number' ? a - b : wideNumber(BigInt(a) - BigInt(b))
}

/** Whether it is one of them, in its form. */
export function isUint64(value: unknown): value is WideNumber {
  return typeof value === 'bigint'
    ? value > MAX_SAFE && value < 1n << 64n
    : Number.isSafeInteger(value) && (value as number) >= 0
}

/** The smaller one; Infinity is none of them, and larger than all. */
export function smaller(a: WideNumber, b: WideNumber): WideNumber {
  if (b < a) return b
  return a
}
