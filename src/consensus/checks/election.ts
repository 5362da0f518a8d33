/**
 * Checks 9 to 11: the miner may produce, and won as often as it says.
 * @see lotus chain/consensus/filcns/filecoin.go ValidateBlock winnerCheck; chain/stmgr/actors.go MinerEligibleToMine
 */
import { verify } from '../../crypto/bls.ts'
import type { ElectionProof } from '../../types/blockHeader.ts'
import type { BlockContext } from '../blockContext.ts'
import { electionInput } from '../election.ts'
import { electionPower } from '../electionPower.ts'
import { isEligible } from '../eligibility.ts'
import { computeWinCount } from '../poisson.ts'
import { ValidationError } from '../validationError.ts'

export function checkElection(context: BlockContext): void {
  const { header, view, base, lookback, beacon, worker } = context
  const proof = header.electionProof as ElectionProof
  if (proof.winCount < 1) throw new ValidationError('NOT_A_WINNER', 'block is not claiming to be a winner')
  if (!isEligible(view, base, lookback.tipset, header.miner)) {
    throw new ValidationError('NOT_ELIGIBLE', `block's miner is ineligible to mine: ${view.addressText(header.miner)}`)
  }
  const power = electionPower(view, lookback.state, header.miner)
  if (!verify(proof.vrfProof, electionInput(beacon, header.height, header.miner), worker.payload)) {
    throw new ValidationError('ELECTION_PROOF_INVALID', 'validating block election proof failed: vrf was invalid')
  }
  const wins = power === undefined ? 0 : computeWinCount(proof.vrfProof, power.miner, power.network)
  if (wins !== proof.winCount) {
    throw new ValidationError(
      'WIN_COUNT_WRONG',
      `miner claims wrong number of wins: miner: ${proof.winCount}, computed: ${wins}`,
    )
  }
}
