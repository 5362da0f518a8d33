/**
 * Registered types of seals: V1, V1.1, synthetic and non-interactive, five numbers each, one a sector size.
 * @see filecoin-proofs-api registry.rs RegisteredSealProof, porep_id
 */
import { type SectorSize, sizeOfType } from '../sectorSize.ts'

/** How the challenges of a seal are drawn. */
export type ChallengeKind = 'interactive' | 'synthetic' | 'nonInteractive'

/** What a registered type stands for. */
export interface SealProofType {
  readonly size: SectorSize
  readonly challenges: ChallengeKind
  /** V1 (types 0 to 4), whose graphs differ a little from all later ones. */
  readonly isV1: boolean
  readonly partitions: number
  /** 32 bytes: the registered number, then a nonce of zero. */
  readonly porepId: Uint8Array
}

const KINDS: readonly ChallengeKind[] = ['interactive', 'interactive', 'synthetic', 'nonInteractive']

/** @throws ProofError `UNKNOWN_PROOF_TYPE` */
export function sealProofType(type: number): SealProofType {
  const { size, group } = sizeOfType(type, KINDS.length, 'seal')
  const challenges = KINDS[group] as ChallengeKind
  const porepId = new Uint8Array(32)
  porepId[0] = type
  const partitions = challenges === 'nonInteractive' ? size.nonInteractivePartitions : size.sealPartitions
  return { size, challenges, isV1: group === 0, partitions, porepId }
}
