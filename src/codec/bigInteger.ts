/** Filecoin's big integers: sign and magnitude in a byte string, a decimal string in JSON. */
import { MAX_INTEGER_DIGITS } from '../base/bounds.ts'
import { bigIntToBytes, bytesToBigInt, concatBytes, EMPTY_BYTES } from '../base/bytes.ts'
import { MAJOR_BYTES } from './cbor.ts'
import type { Codec } from './codec.ts'
import { CodecError } from './errors.ts'
import { wrongJson } from './goJson.ts'
import { withPrint } from './jsonWriter.ts'
import { MAX_BIG_INT_BYTES } from './limits.ts'

/** Filecoin's bytes of a big integer: none for zero, else a sign byte and the big-endian magnitude. */
export function bigIntBytes(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY_BYTES
  return concatBytes(Uint8Array.of(value < 0n ? 1 : 0), bigIntToBytes(value < 0n ? -value : value))
}

/**
 * The big integer of Filecoin's bytes. A magnitude with leading zeros is taken as Go's `big.Int` does.
 * @throws CodecError `TOO_LARGE`, `NOT_CANONICAL` on another sign byte
 * @see go-state-types big/int.go FromBytes
 */
export function bigIntFromBytes(data: Uint8Array): bigint {
  if (data.length === 0) return 0n
  if (data.length > MAX_BIG_INT_BYTES) {
    throw new CodecError('TOO_LARGE', `Cannot read big integer: ${data.length} bytes, at most ${MAX_BIG_INT_BYTES}`)
  }
  const sign = data[0]
  if (sign !== 0 && sign !== 1) {
    throw new CodecError('NOT_CANONICAL', `big int prefix should be either 0 or 1, got ${sign}`)
  }
  const magnitude = bytesToBigInt(data.subarray(1))
  return sign === 1 ? -magnitude : magnitude
}

const DECIMAL = /^[+-]?\d+$/

/** Big integer: sign and magnitude in a byte string; JSON decimal string. */
export const bigInt: Codec<bigint> = {
  name: 'big.Int',
  write: (writer, value) => {
    if (value === 0n) {
      writer.head(MAJOR_BYTES, 0)
      return
    }
    const magnitude = bigIntToBytes(value < 0n ? -value : value)
    writer.head(MAJOR_BYTES, magnitude.length + 1)
    writer.byte(value < 0n ? 1 : 0)
    writer.raw(magnitude)
  },
  read: (reader) => bigIntFromBytes(reader.readBytes()),
  toJson: withPrint<bigint>(
    (value) => value.toString(),
    (out, value) => out.quoted(value.toString()),
  ),
  fromJson: (json) => {
    if (json === undefined) return 0n
    if (json !== null && typeof json !== 'string') throw wrongJson(json, 'string')
    if (json === null || !DECIMAL.test(json)) {
      throw new CodecError('INVALID_JSON', `failed to parse big string: '"${json ?? ''}"'`)
    }
    if (json.length > MAX_INTEGER_DIGITS) {
      const text = `failed to parse big string: ${json.length} digits, at most ${MAX_INTEGER_DIGITS}`
      throw new CodecError('INVALID_JSON', text)
    }
    return BigInt(json.startsWith('+') ? json.slice(1) : json)
  },
  schema: { type: 'string', pattern: '^[+-]?[0-9]+$' },
}
