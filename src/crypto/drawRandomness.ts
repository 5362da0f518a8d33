/**
 * Randomness drawn from a base for one purpose.
 * @see lotus chain/rand/rand.go DrawRandomnessFromBase
 */
import { concatBytes } from '../base/bytes.ts'
import { blake2b256 } from './blake2b.ts'

/** Domain separation tags: what a drawn value is for. Actors say theirs by number. */
export const TAG_TICKET = 1
export const TAG_ELECTION = 2
export const TAG_WINNING_POST = 3

function signedBigEndian(value: number | bigint): Uint8Array {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigInt64(0, BigInt(value))
  return out
}

/**
 * Draws from the digest of a base, as actors get it from the machine since actors v12 (FIP-0075).
 * @param digest - blake2b-256 of a ticket's VRF proof or of a beacon entry, 32 bytes
 * @returns 32 bytes
 */
export function drawRandomnessFromDigest(
  digest: Uint8Array,
  tag: number | bigint,
  epoch: number,
  entropy: Uint8Array,
): Uint8Array {
  return blake2b256(concatBytes(signedBigEndian(tag), digest, signedBigEndian(epoch), entropy))
}

/**
 * Draws from a base.
 * @param base - a ticket's VRF proof or a beacon entry's data
 * @param entropy - for headers: the CBOR of the miner's address (with its length), for tickets followed by the base ticket
 * @returns 32 bytes
 */
export function drawRandomness(base: Uint8Array, tag: number, epoch: number, entropy: Uint8Array): Uint8Array {
  return drawRandomnessFromDigest(blake2b256(base), tag, epoch, entropy)
}
