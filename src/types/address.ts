/**
 * Addresses f0 to f4 (t0 to t4 off mainnet), in bytes and text, exactly as go-address takes them.
 * @see filecoin-project/go-address address.go decode, encode, newAddress
 */

import { fromBase32, toBase32 } from '../base/base32.ts'
import { MAX_INTEGER_DIGITS } from '../base/bounds.ts'
import { concatBytes, EMPTY_BYTES, equalBytes, fromHex, latin1 } from '../base/bytes.ts'
import type { Codec } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { wrongJson } from '../codec/goJson.ts'
import { withPrint } from '../codec/jsonWriter.ts'
import {
  MAX_VARINT_BYTES,
  readVarint64,
  readWrappingVarint,
  varintBytes,
  varintLength,
  varintSize,
  writeVarint,
} from '../codec/varint.ts'
import { blake2b, blake2b160 } from '../crypto/blake2b.ts'
import type { ActorId } from './scalars.ts'

/** Protocol indicators. */
export const PROTOCOL_ID = 0
export const PROTOCOL_SECP256K1 = 1
export const PROTOCOL_ACTOR = 2
export const PROTOCOL_BLS = 3
export const PROTOCOL_DELEGATED = 4

/** Namespace of the Ethereum address manager: f410 addresses. */
export const NAMESPACE_EAM = 10n

const HASH_LENGTH = 20
const BLS_KEY_LENGTH = 48
const CHECKSUM_LENGTH = 4
const MAX_SUBADDRESS_LENGTH = 54
const MAX_INT64 = (1n << 63n) - 1n
/** IDs below it are exact as numbers. */
const SMALL_ID = 2 ** 50
/** Digits of 2^63-1. */
const MAX_INT64_DIGITS = 19
/** `f4`, 19 digits, `f`, base32 of 58 bytes. */
const MAX_TEXT_LENGTH = 115
const UNDEF_TEXT = '<empty>'

/** An address. Immutable; `bytes` must not be written to. */
export class Address {
  /** Protocol byte and payload; empty for the undefined address. */
  readonly bytes: Uint8Array
  #key: string | undefined
  #text: string | undefined

  /** Use the functions of this file: they check. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** 0 ID, 1 secp256k1, 2 actor, 3 BLS, 4 delegated; -1 for the undefined address. */
  get protocol(): number {
    return this.bytes[0] ?? -1
  }

  /** The bytes behind the protocol byte, a view. */
  get payload(): Uint8Array {
    return this.bytes.subarray(1)
  }

  get isUndefined(): boolean {
    return this.bytes.length === 0
  }

  /** One character per byte: the key for a `Map`. */
  get key(): string {
    this.#key ??= latin1(this.bytes)
    return this.#key
  }

  equals(other: Address): boolean {
    return this === other || equalBytes(this.bytes, other.bytes)
  }

  /**
   * @param prefix - `f` on mainnet, `t` elsewhere
   * @returns the text, `<empty>` for the undefined address
   */
  toString(prefix: 'f' | 't' = 'f'): string {
    this.#text ??= addressText(this)
    return this.#text === UNDEF_TEXT ? UNDEF_TEXT : prefix + this.#text
  }
}

/** Go's zero value: no address at all. JSON `<empty>`, no CBOR form. */
export const UNDEF_ADDRESS: Address = new Address(EMPTY_BYTES)

function checksum(bytes: Uint8Array): Uint8Array {
  return blake2b(bytes, CHECKSUM_LENGTH)
}

function addressText(address: Address): string {
  const { protocol, bytes } = address
  if (protocol === -1) return UNDEF_TEXT
  if (protocol === PROTOCOL_ID) return `0${readVarint64(bytes, 1).value}`
  const { payload } = address
  if (protocol === PROTOCOL_DELEGATED) {
    const namespace = readVarint64(payload, 0)
    const sub = payload.subarray(namespace.next)
    return `4${namespace.value}f${toBase32(concatBytes(sub, checksum(bytes)))}`
  }
  return `${protocol}${toBase32(concatBytes(payload, checksum(bytes)))}`
}

function invalid(message: string): CodecError {
  return new CodecError('INVALID_ADDRESS', message)
}

function createAddress(protocol: number, payload: Uint8Array): Address {
  switch (protocol) {
    case PROTOCOL_ID:
      readId(payload, 0)
      break
    case PROTOCOL_SECP256K1:
    case PROTOCOL_ACTOR:
      if (payload.length !== HASH_LENGTH) throw invalid('invalid address length')
      break
    case PROTOCOL_BLS:
      if (payload.length !== BLS_KEY_LENGTH) throw invalid('invalid address length')
      break
    case PROTOCOL_DELEGATED: {
      const { value, next } = readIdVarint(payload)
      if (value > MAX_INT64) throw invalid('invalid address payload')
      if (payload.length - next > MAX_SUBADDRESS_LENGTH) throw invalid('invalid address length')
      break
    }
    default:
      throw invalid('unknown address protocol')
  }
  const bytes = new Uint8Array(payload.length + 1)
  bytes[0] = protocol
  bytes.set(payload, 1)
  return new Address(bytes)
}

/** From an offset to the end. */
function readId(bytes: Uint8Array, offset: number): ActorId {
  const { value, next } = readIdVarint(bytes, offset)
  if (next !== bytes.length) throw invalid('invalid address length')
  if (value > MAX_INT64) throw invalid('invalid address payload')
  return value
}

function readIdVarint(bytes: Uint8Array, offset = 0): { value: bigint; next: number } {
  try {
    return readVarint64(bytes, offset)
  } catch (cause) {
    throw new CodecError('INVALID_ADDRESS', 'invalid address payload', {}, { cause })
  }
}

/**
 * The address of its bytes (copied).
 * @throws CodecError `INVALID_ADDRESS`
 */
export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length < 2) throw invalid('invalid address length')
  return createAddress(bytes[0] as number, bytes.subarray(1))
}

/**
 * The address of bytes that an actor hands to the machine, which takes IDs and namespaces of all 64 bits: where the number has
 * ten bytes, it is read modulo 2^64 and written anew.
 * @throws CodecError `INVALID_ADDRESS`
 * @see ref-fvm shared/src/address/mod.rs from_bytes, from_leb_bytes; payload.rs Payload::new
 */
export function machineAddress(bytes: Uint8Array): Address {
  const protocol = bytes[0]
  const isNumbered = protocol === PROTOCOL_ID || protocol === PROTOCOL_DELEGATED
  if (!isNumbered || varintSize(bytes, 1) <= MAX_VARINT_BYTES) return addressFromBytes(bytes)
  let read: { value: bigint; next: number }
  try {
    read = readWrappingVarint(bytes, 1)
  } catch (cause) {
    throw new CodecError('INVALID_ADDRESS', 'invalid address payload', {}, { cause })
  }
  const rest = bytes.subarray(read.next)
  if (rest.length > (protocol === PROTOCOL_ID ? 0 : MAX_SUBADDRESS_LENGTH)) throw invalid('invalid address length')
  return new Address(concatBytes(Uint8Array.of(protocol), varintBytes(read.value), rest))
}

function unsigned63(digits: string): bigint {
  if (digits.length > MAX_INTEGER_DIGITS || !/^\d+$/.test(digits)) throw invalid('invalid address payload')
  const value = BigInt(digits)
  if (value > MAX_INT64) throw invalid('invalid address payload')
  return value
}

function decodePayload(text: string): { payload: Uint8Array; sum: Uint8Array } {
  let raw: Uint8Array
  try {
    raw = fromBase32(text)
  } catch (cause) {
    throw new CodecError('INVALID_ADDRESS', 'invalid encoding', {}, { cause })
  }
  if (raw.length < CHECKSUM_LENGTH) throw invalid('invalid address length')
  const end = raw.length - CHECKSUM_LENGTH
  return { payload: raw.subarray(0, end), sum: raw.subarray(end) }
}

/**
 * The address of a text with prefix `f` or `t`. The empty text and `<empty>` are the undefined address, as in Lotus.
 * @throws CodecError `INVALID_ADDRESS` with go-address' own texts: "unknown address network", "unknown address protocol",
 * "invalid address payload", "invalid address length", "invalid address checksum", "invalid encoding"
 */
export function parseAddress(text: string): Address {
  if (text === '' || text === UNDEF_TEXT) return UNDEF_ADDRESS
  if (text.length < 3 || text.length > MAX_TEXT_LENGTH) throw invalid('invalid address length')
  if (text[0] !== 'f' && text[0] !== 't') throw invalid('unknown address network')
  const protocol = text.charCodeAt(1) - 48
  if (protocol < 0 || protocol > 4) throw invalid('unknown address protocol')
  const rest = text.slice(2)
  if (protocol === PROTOCOL_ID) {
    if (rest.length > MAX_INT64_DIGITS) throw invalid('invalid address length')
    return createAddress(PROTOCOL_ID, varintBytes(unsigned63(rest)))
  }
  let namespace: Uint8Array = EMPTY_BYTES
  let encoded = rest
  if (protocol === PROTOCOL_DELEGATED) {
    const split = rest.indexOf('f')
    if (split < 0) throw invalid('invalid address payload')
    if (split > MAX_INT64_DIGITS) throw invalid('invalid address length')
    namespace = varintBytes(unsigned63(rest.slice(0, split)))
    encoded = rest.slice(split + 1)
  }
  const { payload, sum } = decodePayload(encoded)
  const address = createAddress(protocol, namespace.length === 0 ? payload : concatBytes(namespace, payload))
  if (!equalBytes(checksum(address.bytes), sum)) throw invalid('invalid address checksum')
  return address
}

/**
 * The f0 address of an actor.
 * @throws CodecError `INVALID_ADDRESS` above 2^63-1
 */
export function idAddress(id: ActorId | number): Address {
  const small = Number(id)
  if (small >= 0 && small < SMALL_ID && Number.isInteger(small)) {
    // Made many times per message: no need to read back what was just written.
    const bytes = new Uint8Array(1 + varintLength(small))
    writeVarint(small, bytes, 1)
    return new Address(bytes)
  }
  if (BigInt(id) < 0n || BigInt(id) > MAX_INT64) throw invalid('invalid address payload')
  return createAddress(PROTOCOL_ID, varintBytes(id))
}

/** Key of an actor in a state tree: the bytes of its f0 address, also where Lotus has no address for the ID (2^63 and more). */
export function actorKey(id: ActorId): Uint8Array {
  return id <= MAX_INT64 ? idAddress(id).bytes : concatBytes(Uint8Array.of(PROTOCOL_ID), varintBytes(id))
}

/** The f1 address of an uncompressed public key (65 bytes). */
export function secp256k1Address(publicKey: Uint8Array): Address {
  return createAddress(PROTOCOL_SECP256K1, blake2b160(publicKey))
}

/** The f2 address of the bytes that name an actor's creation. */
export function actorAddress(data: Uint8Array): Address {
  return createAddress(PROTOCOL_ACTOR, blake2b160(data))
}

/** The f3 address of a compressed public key (48 bytes). */
export function blsAddress(publicKey: Uint8Array): Address {
  return createAddress(PROTOCOL_BLS, publicKey)
}

/** The f4 address of a subaddress in a namespace (the number of the managing actor). */
export function delegatedAddress(namespace: bigint, subaddress: Uint8Array): Address {
  return createAddress(PROTOCOL_DELEGATED, concatBytes(varintBytes(namespace), subaddress))
}

/** First byte of the compressed point at infinity of G1; the rest is zero. */
const BLS_INFINITY = 0xc0

/**
 * Whether it is the f3 address of the point at infinity: f3yaaaa…by2smx7a.
 * @see lotus build/buildconstants/params_shared_vals.go ZeroAddress; ref-fvm shared/src/address/mod.rs is_bls_zero_address
 */
export function isBlsZeroAddress(address: Address): boolean {
  if (address.protocol !== PROTOCOL_BLS) return false
  const key = address.payload
  if (key[0] !== BLS_INFINITY) return false
  for (let i = 1; i < key.length; i++) if (key[i] !== 0) return false
  return true
}

/** Whether it is an f0 address. Those alone need no look into the init actor's state to name an actor. */
export function isIdAddress(address: Address): boolean {
  return address.bytes[0] === PROTOCOL_ID
}

/**
 * The number in an f0 address.
 * @throws CodecError `INVALID_ADDRESS` for another protocol
 */
export function addressToId(address: Address): ActorId {
  if (!isIdAddress(address)) throw invalid(`cannot get id from non id address (protocol ${address.protocol})`)
  return readVarint64(address.bytes, 1).value
}

/**
 * The ID of an ID address' bytes, for which no address is made.
 * @throws CodecError `INVALID_ADDRESS`
 */
export function idFromBytes(bytes: Uint8Array): ActorId {
  if (bytes[0] !== PROTOCOL_ID || bytes.length < 2) return addressToId(addressFromBytes(bytes))
  return readId(bytes, 1)
}

/** Namespace and subaddress of an f4 address, undefined for others. */
export function delegatedParts(address: Address): { namespace: bigint; subaddress: Uint8Array } | undefined {
  if (address.protocol !== PROTOCOL_DELEGATED) return undefined
  const { value, next } = readVarint64(address.bytes, 1)
  return { namespace: value, subaddress: address.bytes.subarray(next) }
}

/**
 * Of an Ethereum address, which address of Filecoin's it is; empty for any other text, also for a masked ID: there a recorded
 * Lotus' words are exact.
 */
function meantByEthereum(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text) || /^0x[fF]{2}0{22}/.test(text)) return ''
  return ` (the Ethereum address ${text} is ${delegatedAddress(NAMESPACE_EAM, fromHex(text))})`
}

/** CBOR byte string; JSON text. JSON null, "" and "<empty>" are the undefined address. */
export const address: Codec<Address> = {
  name: 'address.Address',
  write: (writer, value) => {
    if (value.isUndefined) throw invalid('cannot marshal undefined address')
    writer.bytes(value.bytes)
  },
  read: (reader) => addressFromBytes(reader.readBytes()),
  toJson: withPrint<Address>(
    (value, context) => value.toString(context.addressPrefix),
    (out, value, context) => out.quoted(value.toString(context.addressPrefix)),
  ),
  fromJson: (json) => {
    if (json === undefined || json === null) return UNDEF_ADDRESS
    if (typeof json !== 'string') throw wrongJson(json, 'string')
    try {
      return parseAddress(json)
    } catch (cause) {
      throw new CodecError('INVALID_JSON', `${(cause as Error).message}${meantByEthereum(json)}`, {}, { cause })
    }
  },
  schema: { type: 'string' },
}
