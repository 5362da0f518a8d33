/**
 * Empty sector updates (SnapDeals): that data was put into a sector that had none.
 * @see filecoin-proofs api/update.rs verify_empty_sector_update_proof; storage-proofs-update circuit.rs PublicInputs::new
 */
import { toScalar } from './field.ts'
import { readProofs, verifyProofs } from './groth16.ts'
import type { ProofKeys } from './keys/keyName.ts'
import { type SectorSize, sizeOfType } from './sectorSize.ts'

/** What an update's proof is checked against; commitments are 32 bytes, little-endian, and may be zero. */
export interface UpdateStatement {
  /** RegisteredUpdateProof. */
  readonly proofType: number
  readonly oldCommR: Uint8Array
  readonly newCommR: Uint8Array
  readonly newCommD: Uint8Array
}

/** For each partition: its number with the choice of h above it, commR before, commD, commR after. */
export function updatePublicInputs(size: SectorSize, statement: UpdateStatement): bigint[][] {
  const oldCommR = toScalar(statement.oldCommR, 'old commR')
  const newCommD = toScalar(statement.newCommD, 'new commD')
  const newCommR = toScalar(statement.newCommR, 'new commR')
  return Array.from({ length: size.updatePartitions }, (_, k) => [
    BigInt(k + size.updateSelect * size.updatePartitions),
    oldCommR,
    newCommD,
    newCommR,
  ])
}

/**
 * Whether the proof holds.
 * @param proof - 192 bytes for each partition, in order
 * @throws ProofError `UNKNOWN_PROOF_TYPE`, `INVALID_INPUT`, `INVALID_LENGTH`, `INVALID_POINT`, `KEY_MISSING`
 */
export function verifyReplicaUpdate(keys: ProofKeys, statement: UpdateStatement, proof: Uint8Array): boolean {
  const { size } = sizeOfType(statement.proofType, 1, 'update')
  const inputs = updatePublicInputs(size, statement)
  const key = keys.key('update', size.name)
  const proofs = readProofs(proof, size.updatePartitions, key.curve)
  return verifyProofs(
    key,
    proofs.map((partition, i) => ({ proof: partition, inputs: inputs[i] as bigint[] })),
  )
}
