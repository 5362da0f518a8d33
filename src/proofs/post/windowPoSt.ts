/**
 * Window proofs of spacetime: that all sectors of a deadline's partitions are still held.
 * @see filecoin-proofs api/window_post.rs verify_window_post, get_partitions_for_window_post; storage-proofs-post
 *   fallback/compound.rs generate_public_inputs, utils.rs get_challenge_index
 */
import { ProofError } from '../errors.ts'
import { readProofs, verifyProofs } from '../groth16.ts'
import type { ProofKeys } from '../keys/keyName.ts'
import { WINDOW_CHALLENGES } from '../sectorSize.ts'
import { LeafChallenges } from './leafChallenge.ts'
import { type PoStProofType, postProofType } from './postProofType.ts'
import { type PoStStatement, type SectorInput, sectorInputs } from './sectors.ts'

/** Proofs for `count` sectors. The reference divides 32-bit floats, which matters above 2^24 sectors. */
function partitionsFor(count: number, perPartition: number): number {
  return Math.ceil(Math.fround(Math.fround(count) / Math.fround(perPartition)))
}

/**
 * For each partition: commR and ten leaves of each sector; the last sector's are repeated to fill the last partition.
 * @param sectors - distinct, ascending
 */
export function windowPublicInputs(
  { size, numberedBySector }: PoStProofType,
  randomness: Uint8Array,
  sectors: readonly SectorInput[],
): bigint[][] {
  const challenges = new LeafChallenges(randomness, size.nodes)
  const partitions: bigint[][] = []
  for (let p = 0; p < partitionsFor(sectors.length, size.windowSectors); p++) {
    const inputs: bigint[] = []
    let last: bigint[] = []
    for (let i = 0; i < size.windowSectors; i++) {
      const index = p * size.windowSectors + i
      const sector = sectors[index]
      if (sector !== undefined) {
        const from = numberedBySector ? 0 : index * WINDOW_CHALLENGES
        last = [sector.commR]
        for (let k = 0; k < WINDOW_CHALLENGES; k++) last.push(BigInt(challenges.leaf(sector.number, from + k)))
      }
      inputs.push(...last)
    }
    partitions.push(inputs)
  }
  return partitions
}

/**
 * Whether the proof holds.
 * @param proof - 192 bytes for each partition, in order
 * @throws ProofError `UNKNOWN_PROOF_TYPE`, `INVALID_COUNT`, `INVALID_INPUT`, `INVALID_LENGTH`, `INVALID_POINT`,
 *   `KEY_MISSING`
 */
export function verifyWindowPoSt(keys: ProofKeys, statement: PoStStatement, proof: Uint8Array): boolean {
  const type = postProofType(statement.proofType)
  if (type.circuit !== 'window') {
    throw new ProofError('UNKNOWN_PROOF_TYPE', `Cannot verify: ${statement.proofType} is no window PoSt`)
  }
  const sectors = sectorInputs(statement)
  const key = keys.key('window', type.size.name)
  const proofs = readProofs(proof, partitionsFor(sectors.length, type.size.windowSectors), key.curve)
  const inputs = windowPublicInputs(type, statement.randomness, sectors)
  return verifyProofs(
    key,
    proofs.map((partition, i) => ({ proof: partition, inputs: inputs[i] as bigint[] })),
  )
}
