/**
 * JSON of Ethereum's scalars, as lenient as the reference reads them: digits may lack the prefix or a leading zero.
 * @see lotus chain/types/ethtypes/eth_types.go
 */
import { EMPTY_BYTES, fromHex, prefixedHex } from '../../base/bytes.ts'
import { type Codec, jsonOnly } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { shownJson, wrongJson } from '../../codec/goJson.ts'
import { parseEthUint } from '../../codec/goUint.ts'
import type { Json } from '../../codec/jsonText.ts'
import { MAX_BIG_INT_BYTES } from '../../codec/limits.ts'

const HASH_BYTES = 32
const ADDRESS_BYTES = 20
/** Hexadecimal digits of the largest amount that a message can carry: bytes with one of sign. */
const AMOUNT_DIGITS = 2 * (MAX_BIG_INT_BYTES - 1)

/** A number as `0x` and digits without leading zeros. */
export function hexNumber(value: bigint | number): string {
  return `0x${value.toString(16)}`
}

/** Bytes as `0x` and all digits. */
export function hexBytes(value: Uint8Array): string {
  return prefixedHex('0x', value)
}

/** Go reads null as the empty text. */
function textOf(json: Json | undefined): string {
  if (json === undefined || json === null) return ''
  if (typeof json !== 'string') throw wrongJson(json, 'string')
  return json
}

function padded(digits: string): string {
  return digits.length % 2 === 0 ? digits : `0${digits}`
}

/** Also where a text that is no JSON parameter is read. @throws CodecError `INVALID_JSON` */
function fixedBytes(text: string, length: number): Uint8Array {
  const digits = padded(/^0[xX]/.test(text) ? text.slice(2) : text)
  if (digits.length !== 2 * length) {
    throw new CodecError(
      'INVALID_JSON',
      `expected hex string length sans prefix ${2 * length}, got ${utf8Length(digits)}`,
    )
  }
  return hexDigits(digits, 'cannot parse hex value: ')
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}

function hexDigits(digits: string, context: string): Uint8Array {
  const wrong = /[^0-9a-fA-F]/u.exec(digits)?.[0]
  if (wrong === undefined) return fromHex(`0x${digits}`)
  const code = (wrong.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  throw new CodecError('INVALID_JSON', `${context}encoding/hex: invalid byte: U+${code} '${wrong}'`)
}

/** 32 bytes. */
export const ethHash: Codec<Uint8Array> = jsonOnly<Uint8Array>(
  'ethtypes.EthHash',
  hexBytes,
  (json) => parseEthHash(textOf(json)),
  { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
)

/** The id of a filter: 32 bytes. */
export const ethFilterId: Codec<Uint8Array> = { ...ethHash, goType: 'ethtypes.EthFilterID' }

/** The id of a subscription: 32 bytes. */
export const ethSubscriptionId: Codec<Uint8Array> = { ...ethHash, goType: 'ethtypes.EthSubscriptionID' }

/** @throws CodecError `INVALID_JSON` */
export function parseEthHash(text: string): Uint8Array {
  return fixedBytes(text, HASH_BYTES)
}

/** 20 bytes as `0x` and 40 lower-case digits. */
export const ethAddress: Codec<Uint8Array> = jsonOnly<Uint8Array>(
  'ethtypes.EthAddress',
  hexBytes,
  (json) => fixedBytes(textOf(json), ADDRESS_BYTES),
  { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
)

/** Any number of bytes. */
export const ethBytes: Codec<Uint8Array> = jsonOnly<Uint8Array>(
  'ethtypes.EthBytes',
  hexBytes,
  (json) => {
    const digits = padded(textOf(json).replaceAll('0x', ''))
    return digits === '' ? EMPTY_BYTES : hexDigits(digits, '')
  },
  { type: 'string', pattern: '^0x[0-9a-fA-F]*$' },
)

/** A number as `0x` and digits without leading zeros; a decimal text or number is taken too. */
export const ethUint64: Codec<bigint> = jsonOnly<bigint>(
  'ethtypes.EthUint64',
  hexNumber,
  (json) => {
    if (typeof json === 'number' || typeof json === 'bigint') {
      if (json >= 0 && Number.isInteger(Number(json))) return parseEthUint(String(json))
      throw new CodecError('INVALID_JSON', `cannot interpret ${json} as a hex-encoded uint64, or a number`)
    }
    if (typeof json === 'object' || typeof json === 'boolean') {
      if (json !== null) {
        throw new CodecError('INVALID_JSON', `cannot interpret ${shownJson(json)} as a hex-encoded uint64, or a number`)
      }
    }
    return parseEthUint(textOf(json))
  },
  { type: 'string', pattern: '^0x[0-9a-f]+$' },
)

/**
 * An integer of any size; what follows its digits is not read. An odd number of characters gets a zero before it, a sign
 * too, which then ends the digits.
 */
export const ethBigInt: Codec<bigint> = jsonOnly<bigint>(
  'ethtypes.EthBigInt',
  hexNumber,
  (json) => {
    const [, sign, digits] = /^([+-]?)([0-9a-fA-F]*)/.exec(padded(textOf(json).replaceAll('0x', ''))) ?? []
    const significant = digits?.replace(/^0+/, '') ?? ''
    if (significant.length > AMOUNT_DIGITS) {
      const text = `cannot parse hex value: ${significant.length} digits, at most ${AMOUNT_DIGITS}`
      throw new CodecError('INVALID_JSON', text)
    }
    const value = significant === '' ? 0n : BigInt(`0x${significant}`)
    return sign === '-' ? -value : value
  },
  { type: 'string', pattern: '^0x[0-9a-f]+$' },
)
