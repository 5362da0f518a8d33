import type { ElectionProof } from '../../types/blockHeader.ts'
import type { BlockContext } from '../blockContext.ts'
import { electionInput } from '../election.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 10: the election proof is the worker's, for this epoch and beacon.
 * @throws ValidationError `ELECTION_PROOF_INVALID`
 */
export function checkElectionProof({ header, beacon, worker, verifyBls }: BlockContext): void {
  const { vrfProof } = header.electionProof as ElectionProof
  if (!verifyBls(vrfProof, electionInput(beacon, header.height, header.miner), worker.payload)) {
    throw new ValidationError('ELECTION_PROOF_INVALID', 'validating block election proof failed: vrf was invalid')
  }
}
