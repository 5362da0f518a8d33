/**
 * Numbers as HAMT keys.
 * @see builtin-actors v18 runtime/src/util/map.rs MapKey; integer-encoding VarInt
 */
import { readVarint64, varintBytes } from '../codec/varint.ts'

/** Key of an unsigned number: its varint. */
export function unsignedKey(value: bigint | number): Uint8Array {
  return varintBytes(value)
}

/** Key of a signed number (epoch, transaction number): varint of its zigzag form. */
export function signedKey(value: bigint | number): Uint8Array {
  const wide = BigInt(value)
  return varintBytes(wide >= 0n ? wide << 1n : (-wide << 1n) - 1n)
}

/**
 * The number in a key of {@link unsignedKey}.
 * @throws CodecError when it is no varint of 64 bits
 */
export function readUnsignedKey(key: Uint8Array): bigint {
  return readVarint64(key, 0).value
}

/**
 * The number in a key of {@link signedKey}.
 * @throws CodecError when it is no varint of 64 bits
 */
export function readSignedKey(key: Uint8Array): bigint {
  const value = readUnsignedKey(key)
  return (value & 1n) === 0n ? value >> 1n : -((value + 1n) >> 1n)
}
