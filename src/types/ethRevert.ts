/**
 * Why a contract reverted, in words, from the data that it returned.
 * @see lotus chain/types/ethtypes/eth_types.go ParseEthRevert
 */

import { bytesToBigInt, fromUtf8, toHex } from '../base/bytes.ts'
import { BaseError, unlessThrown } from '../base/errors.ts'

/** Selector of `Error(string)`. */
const ERROR_SELECTOR = '08c379a0'
/** Selector of `Panic(uint256)`. */
const PANIC_SELECTOR = '4e487b71'
const WORD = 32
const SELECTOR = 4
const MAX_UINT64 = (1n << 64n) - 1n

const PANICS: Readonly<Record<number, string>> = {
  0: 'Panic()',
  1: 'Assert()',
  17: 'ArithmeticOverflow()',
  18: 'DivideByZero()',
  33: 'InvalidEnumVariant()',
  34: 'InvalidStorageArray()',
  49: 'PopEmptyArray()',
  50: 'ArrayIndexOutOfBounds()',
  65: 'OutOfMemory()',
  81: 'CalledUninitializedFunction()',
}

/** @returns `Error(<text>)`, the name of a panic, or the data as `0x` hexadecimal */
export function ethRevertReason(data: Uint8Array): string {
  const raw = `0x${toHex(data)}`
  if (data.length < SELECTOR + WORD) return raw
  const selector = toHex(data.subarray(0, SELECTOR))
  const body = data.subarray(SELECTOR)
  if (selector === PANIC_SELECTOR) {
    const code = bytesToBigInt(body.subarray(0, WORD))
    const hex = `0x${code.toString(16)}`
    return (code <= MAX_UINT64 ? PANICS[Number(code)] : undefined) ?? `Panic(${hex})`
  }
  if (selector !== ERROR_SELECTOR) return raw
  const text = abiString(body)
  return text === undefined ? raw : `Error(${text})`
}

/** The dynamic string whose offset is the first word; undefined when it does not lie inside `body`. */
function abiString(body: Uint8Array): string | undefined {
  const length = BigInt(body.length)
  const offset = bytesToBigInt(body.subarray(0, WORD))
  if (offset > length || length - offset < BigInt(WORD)) return undefined
  const start = Number(offset) + WORD
  const size = bytesToBigInt(body.subarray(Number(offset), start))
  if (BigInt(body.length - start) < size) return undefined
  const bytes = body.subarray(start, start + Number(size))
  return unlessThrown(() => fromUtf8(bytes), BaseError) ?? goText(bytes)
}

/** Bytes that are not UTF-8, as Go's JSON writes them: U+FFFD for each byte that begins no character. @see Go unicode/utf8 DecodeRune */
function goText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const width = characterWidth(bytes[at] as number)
    const character = unlessThrown(() => fromUtf8(bytes.subarray(at, at + width)), BaseError)
    text += character ?? '\uFFFD'
    at += character === undefined ? 1 : width
  }
  return text
}

/** Bytes of the character that a first byte announces; one for a byte that begins none. */
function characterWidth(first: number): number {
  if (first >= 0xf0) return 4
  if (first >= 0xe0) return 3
  return first >= 0xc0 ? 2 : 1
}
