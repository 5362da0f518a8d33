/** CID of a block of chain data. */
import { Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256, keyOf38 } from '../codec/cid.ts'
import { blake2b256 } from './blake2b.ts'

/** Version 1, codec (one byte), BLAKE2b-256 (varint a0e402), digest length 32. */
const PREFIX_LENGTH = 6

/**
 * CIDv1 with BLAKE2b-256, the only kind that the chain makes itself.
 * @param codec - multicodec of the data
 */
export function blockCid(data: Uint8Array, codec: number = CODEC_DAG_CBOR): Cid {
  const digest = blake2b256(data)
  // Written out for one-byte codecs: this runs once per state write.
  if (codec >= 0x80) return createCid(codec, HASH_BLAKE2B_256, digest)
  const bytes = new Uint8Array(PREFIX_LENGTH + 32)
  bytes[0] = 1
  bytes[1] = codec
  bytes[2] = 0xa0
  bytes[3] = 0xe4
  bytes[4] = 0x02
  bytes[5] = 32
  bytes.set(digest, PREFIX_LENGTH)
  return new Cid(keyOf38(bytes, 0), 1, codec, HASH_BLAKE2B_256, PREFIX_LENGTH)
}
