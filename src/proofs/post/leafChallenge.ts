/**
 * Challenges of proofs of spacetime.
 * @see storage-proofs-post fallback/vanilla.rs generate_leaf_challenge_inner, generate_sector_challenge
 */
import { sha256 } from '../../crypto/hashes.ts'
import { ProofError } from '../errors.ts'
import { toScalar } from '../field.ts'

const U32 = 2 ** 32

/** Input of the hash: randomness, sector number, number of the challenge; the numbers little-endian in 64 bits. */
const LENGTH = 48
const SECTOR = 32
const NUMBER = 40

/** Makes challenges of one randomness; the buffer is used again for each. */
export class LeafChallenges {
  readonly #input = new Uint8Array(LENGTH)
  readonly #words = new DataView(this.#input.buffer)
  readonly #nodes: number
  /** Whose number stands in the buffer. */
  #sector = 0n

  /** @param nodes - leaves of a sector's tree, a power of two up to 2^32 */
  constructor(randomness: Uint8Array, nodes: number) {
    this.#input.set(randomness)
    this.#nodes = nodes
  }

  /** The leaf that challenge `number` of a sector asks for. @param number - below 2^53 */
  leaf(sector: bigint, number: number): number {
    if (sector !== this.#sector) {
      this.#words.setBigUint64(SECTOR, sector, true)
      this.#sector = sector
    }
    this.#words.setUint32(NUMBER, number % U32, true)
    this.#words.setUint32(NUMBER + 4, Math.floor(number / U32), true)
    const [a, b, c, d] = sha256(this.#input) as unknown as [number, number, number, number]
    // A power of two: the low 32 bits of the 64 decide.
    return (((d << 24) | (c << 16) | (b << 8) | a) >>> 0) % this.#nodes
  }
}

/**
 * Which of the eligible sectors a winning PoSt is about.
 * @param proverId - 32 bytes
 * @param randomness - 32 bytes
 * @param count - number of eligible sectors, below 2^64
 * @returns index in the list of them
 * @throws ProofError `INVALID_INPUT`, `INVALID_COUNT`
 */
export function winningSectorIndex(proverId: Uint8Array, randomness: Uint8Array, count: bigint): bigint {
  toScalar(proverId, 'prover ID')
  toScalar(randomness, 'randomness')
  if (count <= 0n) throw new ProofError('INVALID_COUNT', 'Cannot draw a sector: there are none')
  // The number of the sector that is drawn, always the first, follows.
  const input = new Uint8Array(72)
  input.set(proverId)
  input.set(randomness, 32)
  const hash = sha256(input)
  return new DataView(hash.buffer, hash.byteOffset).getBigUint64(0, true) % count
}
