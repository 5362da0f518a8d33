/**
 * CIDs as the machine takes them from actors: every code of 64 bits, digests of at most 64 bytes.
 * @see multiformats/rust-cid src/cid.rs read_bytes; multiformats/rust-multihash src/multihash.rs read_multihash
 */
import { concatBytes, latin1 } from '../base/bytes.ts'
import { Cid, CODEC_DAG_PB, cidFromBytes, HASH_SHA2_256, isUsualCid, readCid } from './cid.ts'
import { CodecError } from './errors.ts'
import { MAX_VARINT_BYTES, readWrappingVarint, varintBytes, varintSize } from './varint.ts'

/** Bytes of the longest digest that the machine's CIDs hold. */
const MAX_DIGEST_BYTES = 64
/** Version, codec, hash function, length of the digest. */
const VARINTS = 4

function truncated(): CodecError {
  return new CodecError('TRUNCATED', 'failed to fill whole buffer')
}

/** Whether one of the CID's numbers has ten bytes, which go-cid does not read. May also say so of others. */
function isWide(bytes: Uint8Array, offset: number): boolean {
  if (isUsualCid(bytes, offset)) return false
  let at = offset
  for (let i = 0; i < VARINTS; i++) {
    const size = varintSize(bytes, at)
    if (size > MAX_VARINT_BYTES) return true
    at += size
  }
  return false
}

/** The CID whose numbers are read modulo 2^64; written anew it has their shortest form. */
function readWide(bytes: Uint8Array, offset: number): { cid: Cid; next: number } {
  const version = readWrappingVarint(bytes, offset)
  const codec = readWrappingVarint(bytes, version.next)
  if (version.value === 0x12n && codec.value === 0x20n) {
    const next = codec.next + 32
    if (next > bytes.length) throw truncated()
    const key = latin1(concatBytes(Uint8Array.of(0x12, 0x20), bytes.subarray(codec.next, next)))
    return { cid: new Cid(key, 0, CODEC_DAG_PB, HASH_SHA2_256, 2), next }
  }
  if (version.value !== 1n) throw new CodecError('INVALID_CID', 'Unrecognized CID version')
  const hash = readWrappingVarint(bytes, codec.next)
  const size = readWrappingVarint(bytes, hash.next)
  if (size.value > BigInt(MAX_DIGEST_BYTES)) throw new CodecError('TOO_LARGE', 'Failed to parse multihash')
  const next = size.next + Number(size.value)
  if (next > bytes.length) throw truncated()
  const head = concatBytes(...[1n, codec.value, hash.value, size.value].map(varintBytes))
  const key = latin1(concatBytes(head, bytes.subarray(size.next, next)))
  return { cid: new Cid(key, 1, Number(codec.value), Number(hash.value), head.length), next }
}

/**
 * Reads one CID at `offset`; what follows it is not looked at.
 * @throws CodecError `TRUNCATED`, `NOT_CANONICAL`, `OUT_OF_RANGE`, `INVALID_CID`, `TOO_LARGE`
 */
export function readMachineCid(bytes: Uint8Array, offset: number): { cid: Cid; next: number } {
  if (isWide(bytes, offset)) return readWide(bytes, offset)
  const read = readCid(bytes, offset)
  if (read.cid.length - read.cid.digestOffset <= MAX_DIGEST_BYTES) return read
  throw new CodecError('TOO_LARGE', 'Failed to parse multihash')
}

/**
 * The CID that a link holds, to its last byte: one that the machine takes, or one that go-cid does (of any length, in blocks that
 * no machine made).
 * @throws CodecError as {@link readMachineCid}, `TRAILING_BYTES`
 */
export function linkedCid(bytes: Uint8Array): Cid {
  if (!isWide(bytes, 0)) return cidFromBytes(bytes)
  const { cid, next } = readWide(bytes, 0)
  if (next === bytes.length) return cid
  throw new CodecError('TRAILING_BYTES', `cid has ${bytes.length - next} trailing bytes`)
}
