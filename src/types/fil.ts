/**
 * Amounts as people write them.
 * @see lotus chain/types/fil.go FIL.String, ParseFIL
 */
import { MAX_INTEGER_DIGITS } from '../base/bounds.ts'
import { CodecError } from '../codec/errors.ts'
import { ATTO_PER_FIL, type TokenAmount } from './scalars.ts'

const DECIMALS = 18
const MAX_LENGTH = 50
const AMOUNT = /^([+-]?\d*)(?:\.(\d*))?$/

/** The decimal number of FIL, without unit and trailing zeros: `1.5`, `0`. */
export function filNumber(amount: TokenAmount): string {
  const sign = amount < 0n ? '-' : ''
  const magnitude = amount < 0n ? -amount : amount
  const fraction = (magnitude % ATTO_PER_FIL).toString().padStart(DECIMALS, '0').replace(/0+$/, '')
  return `${sign}${magnitude / ATTO_PER_FIL}${fraction === '' ? '' : `.${fraction}`}`
}

/** As the command line prints amounts: `1.5 FIL`. */
export function formatFil(amount: TokenAmount): string {
  return `${filNumber(amount)} FIL`
}

/**
 * Reads `1.5`, `1.5 FIL`, `10 attoFIL`, `10 aFIL`, in any case.
 * @returns attoFIL
 * @throws CodecError `OUT_OF_RANGE` below one attoFIL or too long, `INVALID_JSON` when it is no amount
 */
export function parseFil(input: string): TokenAmount {
  const text = input.trim()
  if (text.length > MAX_LENGTH) throw new CodecError('OUT_OF_RANGE', `string length too large: ${text.length}`)
  const lower = text.toLowerCase()
  const unit = /\s*(attofil|afil|fil)$/.exec(lower)
  const atto = unit !== null && unit[1] !== 'fil'
  const number = (unit === null ? lower : lower.slice(0, unit.index)).trim()
  const match = number.length > MAX_INTEGER_DIGITS ? null : AMOUNT.exec(number)
  const whole = match?.[1] ?? ''
  const fraction = match?.[2] ?? ''
  if (match === null || (/^[+-]?$/.test(whole) && fraction === '')) {
    throw new CodecError('INVALID_JSON', `failed to parse "${input}" as a decimal number`)
  }
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > (atto ? 0 : DECIMALS))
    throw new CodecError('OUT_OF_RANGE', `invalid ${atto ? 'attoFIL' : 'FIL'} value: "${input}"`)
  const negative = whole.startsWith('-')
  const units = BigInt(whole.replace(/^[+-]/, '') || '0')
  const value = atto ? units : units * ATTO_PER_FIL + BigInt(digits.padEnd(DECIMALS, '0'))
  return negative ? -value : value
}
