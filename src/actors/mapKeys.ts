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

export function readUnsignedKey(key: Uint8Array): bigint {
  return readVarint64(key, 0).value
}

export function readSignedKey(key: Uint8Array): bigint {
  const value = readUnsignedKey(key)
  return (value & 1n) === 0n ? value >> 1n : -((value + 1n) >> 1n)
}
