/** Which key a proof is verified with. */
import type { VerifierSrs } from '../aggregate/verifierSrs.ts'
import type { SectorSize } from '../sectorSize.ts'
import type { VerifyingKey } from '../verifyingKey.ts'

/** What a circuit proves. All seal types of a size share one key, and so do both versions of window PoSt. */
export type Circuit = 'winning' | 'window' | 'seal' | 'update'

/** Keys at hand. Both throw ProofError `KEY_MISSING` when the key is not there, `INVALID_KEY` when it is unusable. */
export interface ProofKeys {
  key(circuit: Circuit, size: SectorSize['name']): VerifyingKey
  /** The reference string that aggregates of seals are verified with. */
  srs(): VerifierSrs
}
