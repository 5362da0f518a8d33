/**
 * Content identifiers, strict as go-cid is: minimal varints, the whole input, no unknown version.
 * @see ipfs/go-cid Cast, Decode; multiformats/go-multihash
 */

import { base2 } from 'multiformats/bases/base2'
import { base16 } from 'multiformats/bases/base16'
import { base32hex, base32hexpad, base32pad } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc, base58flickr } from 'multiformats/bases/base58'
import { base64, base64pad, base64url, base64urlpad } from 'multiformats/bases/base64'
import { base256emoji } from 'multiformats/bases/base256emoji'
import { fromBase32, toBase32 } from '../base/base32.ts'
import { MAX_CID_TEXT } from '../base/bounds.ts'
import { fromLatin1, latin1 } from '../base/bytes.ts'
import { CodecError } from './errors.ts'
import { readRoundedVarint, varintLength, writeVarint } from './varint.ts'

/** Multicodec codes that occur on the chain. */
export const CODEC_CBOR = 0x51
export const CODEC_RAW = 0x55
export const CODEC_DAG_PB = 0x70
export const CODEC_DAG_CBOR = 0x71
/** Commitments to unsealed and sealed sectors: CIDs of these are no links to blocks. */
export const CODEC_FIL_COMMITMENT_UNSEALED = 0xf101
export const CODEC_FIL_COMMITMENT_SEALED = 0xf102

/** Multihash codes that occur on the chain. */
export const HASH_IDENTITY = 0x00
export const HASH_SHA2_256 = 0x12
export const HASH_BLAKE2B_256 = 0xb220
/** Of commitments to data, and to replicas. */
export const HASH_SHA2_256_TRUNC254_PADDED = 0x1012
export const HASH_POSEIDON_BLS12_381_A1_FC1 = 0xb401

/** Longest CID that a codec accepts, in bytes (cbor-gen reads at most 512, minus the tag's leading zero). */
const MAX_CID_BYTES = 511

/**
 * A content identifier. It holds its bytes as a string: that takes a quarter of the memory of a view and of the time to make
 * one, and a node holds some hundred thousand.
 */
export class Cid {
  /** One character per byte: the key for a `Map`. */
  readonly key: string
  readonly version: 0 | 1
  /** Multicodec of the content. Rounded from 2^53 on: nothing has such a code, and `key` tells them apart. */
  readonly codec: number
  /** Multihash function; rounded like `codec`. */
  readonly hashCode: number
  /** Where the digest starts in `bytes`. */
  readonly digestOffset: number
  #text: string | undefined

  /** Use {@link cidFromBytes}, {@link createCid} or {@link parseCid}. */
  constructor(key: string, version: 0 | 1, codec: number, hashCode: number, digestOffset: number) {
    this.key = key
    this.version = version
    this.codec = codec
    this.hashCode = hashCode
    this.digestOffset = digestOffset
  }

  /** How many `bytes` there are. */
  get length(): number {
    return this.key.length
  }

  /** Made anew each time. */
  get bytes(): Uint8Array {
    return fromLatin1(this.key)
  }

  /** Made anew each time. */
  get digest(): Uint8Array {
    return fromLatin1(this.key.slice(this.digestOffset))
  }

  /** Whether the content is inside the CID itself. */
  get isIdentity(): boolean {
    return this.hashCode === HASH_IDENTITY
  }

  equals(other: Cid): boolean {
    return this.key === other.key
  }

  /** Base32 for version 1, base58btc for version 0. */
  toString(): string {
    this.#text ??= this.version === 0 ? base58btc.encode(this.bytes).slice(1) : `b${toBase32(this.bytes)}`
    return this.#text
  }
}

/** The key of a CID of 38 bytes. Written out: that takes a third of the time of a view, and of a call with its bytes as a list. */
export function keyOf38(b: Uint8Array, o: number): string {
  return String.fromCharCode(
    b[o] as number,
    b[o + 1] as number,
    b[o + 2] as number,
    b[o + 3] as number,
    b[o + 4] as number,
    b[o + 5] as number,
    b[o + 6] as number,
    b[o + 7] as number,
    b[o + 8] as number,
    b[o + 9] as number,
    b[o + 10] as number,
    b[o + 11] as number,
    b[o + 12] as number,
    b[o + 13] as number,
    b[o + 14] as number,
    b[o + 15] as number,
    b[o + 16] as number,
    b[o + 17] as number,
    b[o + 18] as number,
    b[o + 19] as number,
    b[o + 20] as number,
    b[o + 21] as number,
    b[o + 22] as number,
    b[o + 23] as number,
    b[o + 24] as number,
    b[o + 25] as number,
    b[o + 26] as number,
    b[o + 27] as number,
    b[o + 28] as number,
    b[o + 29] as number,
    b[o + 30] as number,
    b[o + 31] as number,
    b[o + 32] as number,
    b[o + 33] as number,
    b[o + 34] as number,
    b[o + 35] as number,
    b[o + 36] as number,
    b[o + 37] as number,
  )
}

/** Whether the CID at `offset` is what nearly every CID of the chain is: version 1, dag-cbor (of actors' code raw), blake2b-256. */
export function isUsualCid(bytes: Uint8Array, offset: number): boolean {
  const codec = bytes[offset + 1]
  return (
    bytes.length >= offset + 38 &&
    bytes[offset] === 0x01 &&
    (codec === CODEC_DAG_CBOR || codec === CODEC_RAW) &&
    bytes[offset + 2] === 0xa0 &&
    bytes[offset + 3] === 0xe4 &&
    bytes[offset + 4] === 0x02 &&
    bytes[offset + 5] === 0x20
  )
}

/**
 * Reads one CID at `offset`.
 * @returns the CID, with bytes copied out of `bytes`, and the offset behind it
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL`, `OUT_OF_RANGE` (a code of 2^63 or more), `INVALID_CID`, `TOO_LARGE`
 */
export function readCid(bytes: Uint8Array, offset: number): { cid: Cid; next: number } {
  if (isUsualCid(bytes, offset)) {
    const codec = bytes[offset + 1] as number
    return { cid: new Cid(keyOf38(bytes, offset), 1, codec, HASH_BLAKE2B_256, 6), next: offset + 38 }
  }
  if (bytes[offset] === HASH_SHA2_256 && bytes[offset + 1] === 32) {
    const end = offset + 34
    if (end > bytes.length) throw new CodecError('TRUNCATED', 'length greater than remaining number of bytes in buffer')
    return { cid: new Cid(latin1(bytes.subarray(offset, end)), 0, CODEC_DAG_PB, HASH_SHA2_256, 2), next: end }
  }
  const version = readRoundedVarint(bytes, offset)
  if (version.value !== 1)
    throw new CodecError('INVALID_CID', `expected 1 as the cid version number, got: ${version.value}`)
  const codec = readRoundedVarint(bytes, version.next)
  const hash = readRoundedVarint(bytes, codec.next)
  const length = readRoundedVarint(bytes, hash.next)
  const end = length.next + length.value
  if (end > bytes.length) throw new CodecError('TRUNCATED', 'length greater than remaining number of bytes in buffer')
  if (end - offset > MAX_CID_BYTES)
    throw new CodecError('TOO_LARGE', `Cannot read CID: ${end - offset} bytes, at most ${MAX_CID_BYTES}`)
  return {
    cid: new Cid(latin1(bytes.subarray(offset, end)), 1, codec.value, hash.value, length.next - offset),
    next: end,
  }
}

/**
 * The CID that `bytes` hold, to the last byte.
 * @throws CodecError as {@link readCid}, `TRAILING_BYTES`
 */
export function cidFromBytes(bytes: Uint8Array): Cid {
  const { cid, next } = readCid(bytes, 0)
  if (next !== bytes.length) throw new CodecError('TRAILING_BYTES', 'trailing bytes in data buffer passed to cid Cast')
  return cid
}

/** A version 1 CID of a digest. */
export function createCid(codec: number, hashCode: number, digest: Uint8Array): Cid {
  const head = 1 + varintLength(codec) + varintLength(hashCode) + varintLength(digest.length)
  const bytes = new Uint8Array(head + digest.length)
  bytes[0] = 1
  let at = writeVarint(codec, bytes, 1)
  at = writeVarint(hashCode, bytes, at)
  at = writeVarint(digest.length, bytes, at)
  bytes.set(digest, at)
  return new Cid(latin1(bytes), 1, codec, hashCode, at)
}

/** Decoders of texts with their prefix; those of bases that have no two cases of a letter, in lower case. */
const BASES: ReadonlyMap<string, (text: string) => Uint8Array> = new Map(
  [
    ...[base2, base16, base32hex, base32hexpad, base32pad, base36],
    ...[base58btc, base58flickr, base64, base64pad, base64url, base64urlpad, base256emoji],
  ].map((base): [string, (text: string) => Uint8Array] => [base.prefix, (text) => base.decode(text)]),
)
const HAS_NO_CASE = /^[bcfktv]/i

/** @see multiformats/go-multibase Decode; the identity, whose prefix is no character of a text, is left out */
function multibaseBytes(text: string): Uint8Array {
  const prefixed = HAS_NO_CASE.test(text) ? text.toLowerCase() : text
  if (prefixed.startsWith('b')) return fromBase32(prefixed.slice(1), 'lenient')
  const [prefix = ''] = prefixed
  const read = BASES.get(prefix)
  if (read === undefined) throw new CodecError('INVALID_CID', 'selected encoding not supported', { prefix })
  return read(prefixed)
}

/**
 * The CID of a text in any base of multibase (`b…` and `z…` most of all), or a bare `Qm…` of version 0.
 * @throws CodecError `INVALID_CID` and what {@link cidFromBytes} throws
 * @see ipfs/go-cid Decode
 */
export function parseCid(text: string): Cid {
  if (text.length < 2) throw new CodecError('INVALID_CID', 'cid too short')
  // Before any work: bases 36 and 58 cost as much as the square of the length.
  if (text.length > MAX_CID_TEXT) {
    throw new CodecError('INVALID_CID', `Cannot read CID: ${text.length} characters, at most ${MAX_CID_TEXT}`)
  }
  let bytes: Uint8Array
  try {
    bytes = text.length === 46 && text.startsWith('Qm') ? base58btc.decode(`z${text}`) : multibaseBytes(text)
  } catch (cause) {
    if (cause instanceof CodecError) throw cause
    throw new CodecError('INVALID_CID', `Cannot read CID: ${(cause as Error).message}`, {}, { cause })
  }
  try {
    return cidFromBytes(bytes)
  } catch (cause) {
    if (cause instanceof CodecError)
      throw new CodecError(cause.code, `invalid cid: ${cause.message}`, cause.info, { cause })
    throw cause
  }
}
