/** RegisteredPoStProof. @see filecoin-proofs-api registry.rs (where V1_1 of window PoSt is called V1_2) */
import { type SectorSize, sizeOfType } from '../sectorSize.ts'

/** What a registered type stands for. */
export interface PoStProofType {
  readonly size: SectorSize
  readonly circuit: 'winning' | 'window'
  /** Whether challenges are numbered within each sector (V1_1), not through the whole list (V1). */
  readonly numberedBySector: boolean
}

/** @throws ProofError `UNKNOWN_PROOF_TYPE` */
export function postProofType(type: number): PoStProofType {
  const { size, group } = sizeOfType(type, 3, 'PoSt')
  return { size, circuit: group === 0 ? 'winning' : 'window', numberedBySector: group === 2 }
}
