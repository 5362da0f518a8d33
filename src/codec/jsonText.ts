/** JSON texts with integers of any size: Lotus prints 64-bit numbers bare, JavaScript's own parser would round them. */
import { MAX_INTEGER_DIGITS, MAX_JSON_DEPTH } from '../base/bounds.ts'
import { errorMessage } from '../base/errors.ts'
import { CodecError } from './errors.ts'

/** A JSON value. A `bigint` is an integer beyond 2^53, printed with all its digits. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json }

/** An integer for JSON: a number where that is exact. */
export function jsonInteger(value: bigint): Json {
  return value >= -0x1fffffffffffffn && value <= 0x1fffffffffffffn ? Number(value) : value
}

/**
 * Only a text with a number of 16 digits needs the slower way: amounts in attoFIL are texts and need it not. What stands before
 * a number is one of these; a text that holds the same is read the slower way for nothing.
 */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16}/
const INTEGER = /^-?\d+$/

/** Whether a text nests deeper than it may; it need not be JSON. */
function isTooDeep(text: string): boolean {
  if (text.length <= MAX_JSON_DEPTH) return false
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inText) {
      if (c === 0x5c) i++
      else if (c === 0x22) inText = false
    } else if (c === 0x22) inText = true
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > MAX_JSON_DEPTH) return true
    } else if (c === 0x7d || c === 0x5d) depth--
  }
  return false
}

/** Digits to an integer cost as much as their square. */
function integerOf(source: string): bigint {
  if (source.length <= MAX_INTEGER_DIGITS) return BigInt(source)
  throw new CodecError('INVALID_JSON', `a number of ${source.length} digits, at most ${MAX_INTEGER_DIGITS} are read`)
}

/**
 * Reads a JSON text. Of duplicate keys the last wins, as in Go.
 * @throws CodecError `INVALID_JSON`
 */
export function parseJson(text: string): Json {
  if (isTooDeep(text)) throw new CodecError('INVALID_JSON', 'Cannot read JSON: exceeded max depth')
  try {
    if (!LONG_NUMBER.test(text)) return JSON.parse(text) as Json
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
      if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
      const source = context?.source
      return source !== undefined && INTEGER.test(source) ? integerOf(source) : value
    }) as Json
  } catch (cause) {
    throw new CodecError('INVALID_JSON', `Cannot read JSON: ${errorMessage(cause)}`, {}, { cause })
  }
}

function hasBigInt(value: Json): boolean {
  if (typeof value === 'bigint') return true
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(hasBigInt)
  for (const key in value) if (hasBigInt(value[key] as Json)) return true
  return false
}

/** The text of a JSON value; big integers with all their digits. */
export function stringifyJson(value: Json, indent?: number): string {
  // The replacer makes stringify several times slower, so it is used only where it is needed.
  if (!hasBigInt(value)) return JSON.stringify(value, undefined, indent)
  return JSON.stringify(
    value,
    (_key, item: unknown) => (typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item),
    indent,
  )
}
