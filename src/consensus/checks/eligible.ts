import type { BlockContext } from '../blockContext.ts'
import { isEligible } from '../eligibility.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 9, second half: the miner may produce. (That it was not slashed is check 6: its claim is there.)
 * @throws ValidationError `NOT_ELIGIBLE`
 * @see lotus chain/stmgr/actors.go MinerEligibleToMine
 */
export function checkEligible({ header, view, base, lookback }: BlockContext): void {
  if (!isEligible(view, base, lookback.tipset, header.miner)) {
    throw new ValidationError('NOT_ELIGIBLE', `block's miner is ineligible to mine: ${view.addressText(header.miner)}`)
  }
}
