/**
 * The draw: protocol randomness for one purpose from a base (ticket or beacon entry).
 * @see lotus chain/rand/rand.go DrawRandomnessFromBase; reference/consensus.md section 4
 */
import { blake2b256 } from './blake2b.ts'

/** What a draw is for. The numbers are the protocol's. @see go-state-types crypto/randomness.go */
export const DomainTag = {
  TicketProduction: 1,
  ElectionProofProduction: 2,
  WinningPoStChallengeSeed: 3,
  WindowedPoStChallengeSeed: 4,
  SealRandomness: 5,
  InteractiveSealChallengeSeed: 6,
  WindowedPoStDeadlineAssignment: 7,
  MarketDealCronSeed: 8,
  PoStChainCommit: 9,
} as const

/** A number out of {@link DomainTag}; actors may ask for any other. */
export type DomainTagNumber = number

/**
 * blake2b256( i64be(tag) ‖ digest ‖ i64be(epoch) ‖ entropy )
 * @param digest - blake2b-256 of the base, 32 bytes
 * @param epoch - may be negative
 * @param entropy - in block headers the CBOR of the miner's address, length prefix included
 * @returns 32 bytes
 */
export function drawRandomnessFromDigest(
  digest: Uint8Array,
  tag: DomainTagNumber | bigint,
  epoch: number,
  entropy: Uint8Array,
): Uint8Array {
  const input = new Uint8Array(8 + digest.length + 8 + entropy.length)
  const view = new DataView(input.buffer)
  view.setBigInt64(0, BigInt(tag))
  input.set(digest, 8)
  view.setBigInt64(8 + digest.length, BigInt(epoch))
  input.set(entropy, 16 + digest.length)
  return blake2b256(input)
}

/** The draw from a base: VRF proof of the minimum ticket, or data of the beacon entry. */
export function drawRandomness(
  base: Uint8Array,
  tag: DomainTagNumber | bigint,
  epoch: number,
  entropy: Uint8Array,
): Uint8Array {
  return drawRandomnessFromDigest(blake2b256(base), tag, epoch, entropy)
}
