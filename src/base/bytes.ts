/** Byte strings: comparison, joining and text forms, without help from any runtime. */
import { BaseError } from './errors.ts'

/** The empty byte string. Frozen by convention: nobody can write into it, it has no bytes. */
export const EMPTY_BYTES: Uint8Array = new Uint8Array(0)

/**
 * Bytes that a client sent as `""` or `[]`: Go's empty slice, which is printed as it came, where none at all is null. Lost
 * in CBOR, as there.
 */
export const PRESENT_EMPTY: Uint8Array = new Uint8Array(0)

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** How many bytes they have together. */
export function lengthOf(parts: readonly Uint8Array[]): number {
  let length = 0
  for (const part of parts) length += part.length
  return length
}

/** Joins byte strings into a new one. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(lengthOf(parts))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

/** Whether two byte strings are equal. Not constant time: never compare secrets with it. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Lexicographic order of two byte strings: -1, 0 or 1. */
export function compareBytes(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a[i] as number
    const y = b[i] as number
    if (x !== y) return x < y ? -1 : 1
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1
}

/** UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Up to so many bytes text that is ASCII is read without a decoder, which takes 500 ns to begin. */
const SHORT_TEXT = 32

function isAscii(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] as number) > 0x7f) return false
  return true
}

/**
 * Text of UTF-8 bytes.
 * @throws BaseError `INVALID_ENCODING` when the bytes are not UTF-8
 */
export function fromUtf8(bytes: Uint8Array): string {
  if (bytes.length <= SHORT_TEXT && isAscii(bytes)) return latin1(bytes)
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new BaseError(
      'INVALID_ENCODING',
      'Cannot read text: bytes are not UTF-8',
      { length: bytes.length },
      { cause },
    )
  }
}

const CHUNK = 4096

/** One character per byte: a compact key for a `Map`. */
export function latin1(bytes: Uint8Array): string {
  if (bytes.length <= CHUNK) return String.fromCharCode.apply(null, bytes as unknown as number[])
  let out = ''
  for (let i = 0; i < bytes.length; i += CHUNK) {
    out += String.fromCharCode.apply(null, bytes.subarray(i, i + CHUNK) as unknown as number[])
  }
  return out
}

/** What {@link latin1} was made of; of other texts the low eight bits of each unit. */
export function fromLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

const HEX_DIGITS = utf8('0123456789abcdef')
/** Up to so many bytes text is made of its characters' codes: a decoder takes microseconds to begin. */
const SHORT_HEX = 128

/** Lower-case hexadecimal without prefix. */
export function toHex(bytes: Uint8Array): string {
  return prefixedHex('', bytes)
}

/**
 * Lower-case hexadecimal after a prefix of ASCII. The text is in one piece: one that is put together digit by digit is, to V8, a tree of
 * thirty times its length, and stays one for as long as nobody looks into it.
 */
export function prefixedHex(prefix: string, bytes: Uint8Array): string {
  const { length } = prefix
  const size = length + 2 * bytes.length
  const codes = bytes.length <= SHORT_HEX ? new Array<number>(size) : new Uint8Array(size)
  for (let i = 0; i < length; i++) codes[i] = prefix.charCodeAt(i)
  for (let i = 0, at = length; i < bytes.length; i++) {
    const byte = bytes[i] as number
    codes[at++] = HEX_DIGITS[byte >> 4] as number
    codes[at++] = HEX_DIGITS[byte & 15] as number
  }
  return codes instanceof Uint8Array ? decoder.decode(codes) : String.fromCharCode.apply(null, codes)
}

function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  if (code >= 97 && code <= 102) return code - 87
  if (code >= 65 && code <= 70) return code - 55
  return -1
}

/**
 * Bytes of hexadecimal text, either case, with or without `0x`.
 * @throws BaseError `INVALID_ENCODING` on an odd length or another character
 */
export function fromHex(text: string): Uint8Array {
  const start = text.startsWith('0x') || text.startsWith('0X') ? 2 : 0
  if ((text.length - start) % 2 !== 0) {
    throw new BaseError('INVALID_ENCODING', `Cannot read hexadecimal: odd number of digits, ${text.length - start}`)
  }
  const out = new Uint8Array((text.length - start) / 2)
  for (let i = 0; i < out.length; i++) {
    const high = nibble(text.charCodeAt(start + 2 * i))
    const low = nibble(text.charCodeAt(start + 2 * i + 1))
    if (high < 0 || low < 0) {
      throw new BaseError('INVALID_ENCODING', `Cannot read hexadecimal: not a digit near position ${start + 2 * i}`)
    }
    out[i] = high * 16 + low
  }
  return out
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE64_URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function base64Text(bytes: Uint8Array, alphabet: string, pad: boolean): string {
  let out = ''
  let i = 0
  for (; i + 2 < bytes.length; i += 3) {
    const n = ((bytes[i] as number) << 16) | ((bytes[i + 1] as number) << 8) | (bytes[i + 2] as number)
    out +=
      (alphabet[n >> 18] as string) +
      (alphabet[(n >> 12) & 63] as string) +
      (alphabet[(n >> 6) & 63] as string) +
      (alphabet[n & 63] as string)
  }
  if (i + 1 === bytes.length) {
    const n = bytes[i] as number
    out += (alphabet[n >> 2] as string) + (alphabet[(n << 4) & 63] as string) + (pad ? '==' : '')
  } else if (i + 2 === bytes.length) {
    const n = ((bytes[i] as number) << 8) | (bytes[i + 1] as number)
    out +=
      (alphabet[n >> 10] as string) +
      (alphabet[(n >> 4) & 63] as string) +
      (alphabet[(n << 2) & 63] as string) +
      (pad ? '=' : '')
  }
  return out
}

function reverseAlphabet(alphabet: string): Int8Array {
  const out = new Int8Array(128).fill(-1)
  for (let i = 0; i < 64; i++) out[alphabet.charCodeAt(i)] = i
  return out
}

const BASE64_REVERSE = reverseAlphabet(BASE64)
const BASE64_URL_REVERSE = reverseAlphabet(BASE64_URL)

function base64Bytes(text: string, reverse: Int8Array, end: number): Uint8Array {
  const tail = end % 4
  if (tail === 1) throw new BaseError('INVALID_ENCODING', `Cannot read base64: ${end} characters are no whole bytes`)
  const out = new Uint8Array((end >> 2) * 3 + (tail === 0 ? 0 : tail - 1))
  let at = 0
  let bits = 0
  let have = 0
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i)
    const value = code < 128 ? (reverse[code] as number) : -1
    if (value < 0) throw new BaseError('INVALID_ENCODING', `illegal base64 data at input byte ${i}`, { position: i })
    bits = ((bits << 6) | value) & 0xffffff
    have += 6
    if (have >= 8) {
      have -= 8
      out[at++] = (bits >> have) & 0xff
    }
  }
  return out
}

/** Standard base64 with padding, as Go's `encoding/json` writes byte slices. */
export function toBase64(bytes: Uint8Array): string {
  return base64Text(bytes, BASE64, true)
}

/**
 * Bytes of standard base64. Padding is required, as in Go; line breaks are skipped, as in Go.
 * @throws BaseError `INVALID_ENCODING`
 */
export function fromBase64(input: string): Uint8Array {
  const text = input.includes('\n') || input.includes('\r') ? input.replace(/[\r\n]/g, '') : input
  if (text.length % 4 !== 0) {
    throw new BaseError('INVALID_ENCODING', `illegal base64 data at input byte ${text.length}`, { length: text.length })
  }
  const pad = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return base64Bytes(text, BASE64_REVERSE, text.length - pad)
}

/** URL-safe base64 without padding (JSON Web Tokens). */
export function toBase64Url(bytes: Uint8Array): string {
  return base64Text(bytes, BASE64_URL, false)
}

/**
 * Bytes of URL-safe base64 without padding.
 * @throws BaseError `INVALID_ENCODING`
 */
export function fromBase64Url(text: string): Uint8Array {
  return base64Bytes(text, BASE64_URL_REVERSE, text.length)
}

/** Bytes whose number is exact as a JavaScript number. */
const EXACT_BYTES = 6
/** Above it a number is made of digits: by steps it would take as long as the square of the bytes. */
const MAX_STEPPED_BYTES = 256

/** Unsigned number of big-endian bytes. */
export function bytesToBigInt(bytes: Uint8Array): bigint {
  if (bytes.length > MAX_STEPPED_BYTES) return BigInt(`0x${toHex(bytes)}`)
  let value = 0n
  for (let at = 0; at < bytes.length; ) {
    // Six bytes a step: fewer big integer operations, and no text in between.
    const end = Math.min(bytes.length, at + EXACT_BYTES)
    let part = 0
    const count = end - at
    for (; at < end; at++) part = part * 256 + (bytes[at] as number)
    value = value === 0n ? BigInt(part) : (value << BigInt(8 * count)) | BigInt(part)
  }
  return value
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

function numberBytes(value: number): Uint8Array {
  let length = 0
  for (let rest = value; rest >= 1; rest = Math.floor(rest / 256)) length++
  const out = new Uint8Array(length)
  for (let i = length - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 256)) out[i] = rest % 256
  return out
}

function hexBytes(value: bigint): Uint8Array {
  const hex = value.toString(16)
  return fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)
}

/**
 * Big-endian bytes of an unsigned number: the fewest (zero gives none), or exactly `length`.
 * @throws BaseError `OUT_OF_RANGE` when negative or too large for `length`
 */
export function bigIntToBytes(value: bigint, length?: number): Uint8Array {
  if (value < 0n) throw new BaseError('OUT_OF_RANGE', 'Cannot write an unsigned number: it is negative')
  const bytes = value <= MAX_SAFE ? numberBytes(Number(value)) : hexBytes(value)
  if (length === undefined) return bytes
  if (bytes.length > length) {
    throw new BaseError('OUT_OF_RANGE', `Cannot write a number of ${bytes.length} bytes into ${length}`)
  }
  const out = new Uint8Array(length)
  out.set(bytes, length - bytes.length)
  return out
}
