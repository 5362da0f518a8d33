/** Unsigned numbers in text, read as Go reads them, with its errors: clients of the reference compare them. */
import { CodecError } from './errors.ts'

const MAX_UINT64 = (1n << 64n) - 1n
const DIGITS = { 10: /^[0-9]+$/, 16: /^[0-9a-fA-F]+$/ } as const
/** Of the largest number: what has more need not be made one, which takes seconds for millions of digits. */
const MOST_DIGITS = { 10: 20, 16: 16 } as const

/**
 * @param text - digits alone: no sign, no prefix
 * @throws CodecError `INVALID_JSON`
 * @see Go strconv.ParseUint with 64 bits
 */
export function parseGoUint(text: string, base: 10 | 16): bigint {
  if (!DIGITS[base].test(text)) throw refused(text, 'invalid syntax')
  const digits = text.replace(/^0+(?=.)/, '')
  const value = digits.length > MOST_DIGITS[base] ? undefined : BigInt(base === 16 ? `0x${digits}` : digits)
  if (value === undefined || value > MAX_UINT64) throw refused(text, 'value out of range')
  return value
}

/** Decimal, or hexadecimal after `0x`. @see lotus ethtypes.EthUint64FromString */
export function parseEthUint(text: string): bigint {
  return text.startsWith('0x') ? parseGoUint(text.slice(2), 16) : parseGoUint(text, 10)
}

function refused(text: string, why: string): CodecError {
  return new CodecError('INVALID_JSON', `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`)
}
