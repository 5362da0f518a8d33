/**
 * Winning proofs of spacetime: that the winner of an election holds one of its sectors.
 * @see filecoin-proofs api/winning_post.rs verify_winning_post; storage-proofs-post fallback/compound.rs
 *   generate_public_inputs
 */
import { ProofError } from '../errors.ts'
import { readProofs, verifyProofs } from '../groth16.ts'
import type { ProofKeys } from '../keys/keyName.ts'
import { type SectorSize, WINNING_CHALLENGES } from '../sectorSize.ts'
import { LeafChallenges } from './leafChallenge.ts'
import { postProofType } from './postProofType.ts'
import { type PoStStatement, type SectorInput, sectorInputs } from './sectors.ts'

/** commR and leaf, 66 times. */
export function winningPublicInputs({ nodes }: SectorSize, randomness: Uint8Array, sector: SectorInput): bigint[] {
  const challenges = new LeafChallenges(randomness, nodes)
  return Array.from({ length: WINNING_CHALLENGES }, (_, i) => [
    sector.commR,
    BigInt(challenges.leaf(sector.number, i)),
  ]).flat()
}

/**
 * Whether the proof holds.
 * @param proof - 192 bytes
 * @throws ProofError `UNKNOWN_PROOF_TYPE`, `INVALID_COUNT`, `INVALID_INPUT`, `INVALID_LENGTH`, `INVALID_POINT`,
 *   `KEY_MISSING`
 */
export function verifyWinningPoSt(keys: ProofKeys, statement: PoStStatement, proof: Uint8Array): boolean {
  const { size, circuit } = postProofType(statement.proofType)
  if (circuit !== 'winning') {
    throw new ProofError('UNKNOWN_PROOF_TYPE', `Cannot verify: ${statement.proofType} is no winning PoSt`)
  }
  const [sector, ...others] = sectorInputs(statement)
  if (sector === undefined || others.length > 0) {
    throw new ProofError('INVALID_COUNT', `Cannot verify: expected one sector, got ${others.length + 1}`)
  }
  const key = keys.key('winning', size.name)
  const proofs = readProofs(proof, 1, key.curve)
  const inputs = winningPublicInputs(size, statement.randomness, sector)
  return verifyProofs(
    key,
    proofs.map((partition) => ({ proof: partition, inputs })),
  )
}
