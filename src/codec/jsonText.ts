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
 * Only a text with a number of 16 digits is read a second time: amounts in attoFIL are texts and need it not. What stands before
 * a number is one of these; a text that holds the same is read again for nothing.
 */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16}/
const INTEGER = /^-?\d+$/
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** To V8 a part of a text of so many characters is a view of the whole text, which stays in memory as long as the part does. */
const SHORTEST_PART = 13

function numberOf(source: string): Json {
  const value = Number(source)
  if (Number.isSafeInteger(value) || !INTEGER.test(source)) return value
  // Digits to an integer cost as much as their square.
  if (source.length <= MAX_INTEGER_DIGITS) return BigInt(source)
  throw new CodecError('INVALID_JSON', `a number of ${source.length} digits, at most ${MAX_INTEGER_DIGITS} are read`)
}

/** Where the text ends that begins at `from`: its closing quote. */
function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); ; end = text.indexOf('"', end + 1)) {
    let first = end
    while (text.charCodeAt(first - 1) === BACKSLASH) first--
    if ((end - first) % 2 === 0) return end
  }
}

function isOfNumber(c: number): boolean {
  // Digits; `+`, `-`, `.`; `E`, `e`.
  return (c >= 0x30 && c <= 0x39) || c === 0x2b || c === 0x2d || c === 0x2e || c === 0x45 || c === 0x65
}

/**
 * The value of a text in which integers keep all their digits. JavaScript's parser can call back with the digits of each number, and
 * does so for every value: a million zeros took 0.8 s, this takes 0.1 s. What is open is held in a list: depth costs no stack.
 * @param text - that JavaScript's own parser takes
 * @throws CodecError `INVALID_JSON` for an integer of too many digits
 */
function readExactly(text: string): Json {
  let root: Json = null
  let inside: Json[] | { [key: string]: Json } | undefined
  let key: string | undefined
  const around: (typeof inside)[] = []
  const put = (value: Json): void => {
    if (inside === undefined) root = value
    else if (Array.isArray(inside)) inside.push(value)
    else {
      // As an assignment it would be the object's prototype.
      if (key === '__proto__')
        Object.defineProperty(inside, key, { value, enumerable: true, configurable: true, writable: true })
      else inside[key as string] = value
      key = undefined
    }
  }
  const open = (value: Json[] | { [key: string]: Json }): void => {
    put(value)
    around.push(inside)
    inside = value
  }
  for (let at = 0; at < text.length; ) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) {
      const end = closingQuote(text, at)
      const plain = text.slice(at + 1, end)
      const isOwn = plain.length < SHORTEST_PART && !plain.includes('\\')
      const value = isOwn ? plain : (JSON.parse(text.slice(at, end + 1)) as string)
      if (inside === undefined || Array.isArray(inside) || key !== undefined) put(value)
      else key = value
      at = end + 1
    } else if (isOfNumber(c)) {
      const from = at
      while (isOfNumber(text.charCodeAt(at))) at++
      put(numberOf(text.slice(from, at)))
    } else if (c === 0x5b || c === 0x7b) {
      open(c === 0x5b ? [] : {})
      at++
    } else if (c === 0x5d || c === 0x7d) {
      inside = around.pop()
      at++
    } else if (c === 0x74 || c === 0x66) {
      put(c === 0x74)
      at += c === 0x74 ? 4 : 5
    } else if (c === 0x6e) {
      put(null)
      at += 4
    } else {
      // A comma, a colon or white space.
      at++
    }
  }
  return root
}

/** What a text would hold if it is JSON: how deep it nests, and about how many values and keys it has. */
export function jsonSize(text: string): { readonly depth: number; readonly values: number } {
  let [depth, deepest, values, inText] = [0, 0, 0, false]
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inText) {
      if (c === 0x5c) i++
      else if (c === 0x22) inText = false
    } else if (c === 0x22) inText = true
    else if (c === 0x7b || c === 0x5b) {
      values++
      if (++depth > deepest) deepest = depth
    } else if (c === 0x7d || c === 0x5d) depth--
    else if (c === 0x2c || c === 0x3a) values++
  }
  return { depth: deepest, values }
}

/**
 * Reads a JSON text. Of duplicate keys the last wins, as in Go.
 * @throws CodecError `INVALID_JSON`
 */
export function parseJson(text: string): Json {
  if (text.length > MAX_JSON_DEPTH && jsonSize(text).depth > MAX_JSON_DEPTH)
    throw new CodecError('INVALID_JSON', 'Cannot read JSON: exceeded max depth')
  try {
    const json = JSON.parse(text) as Json
    return LONG_NUMBER.test(text) ? readExactly(text) : json
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
