import type { ElectionProof } from '../../types/blockHeader.ts'
import type { BlockContext } from '../blockContext.ts'
import { electionPower } from '../electionPower.ts'
import { computeWinCount } from '../poisson.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 11: the miner won as often as it says.
 * @throws ValidationError `WIN_COUNT_WRONG`
 * @see lotus chain/types/electionproof.go ComputeWinCount
 */
export function checkWinCount({ header, view, lookback }: BlockContext): void {
  const { winCount, vrfProof } = header.electionProof as ElectionProof
  const power = electionPower(view, lookback.state, header.miner)
  const wins = power === undefined ? 0 : computeWinCount(vrfProof, power.miner, power.network)
  if (wins !== winCount) {
    throw new ValidationError(
      'WIN_COUNT_WRONG',
      `miner claims wrong number of wins: miner: ${winCount}, computed: ${wins}`,
    )
  }
}
