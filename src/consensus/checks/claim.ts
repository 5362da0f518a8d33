import { minerPower } from '../../chain/queries/minerPower.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 6: the miner is known to the power actor.
 * @throws ValidationError `MINER_WITHOUT_CLAIM`
 */
export function checkClaim({ header, view, baseState }: BlockContext): void {
  if (!minerPower(view, baseState, header.miner).hasClaim) {
    throw new ValidationError('MINER_WITHOUT_CLAIM', 'failed to load claim for miner: minerHasMinPower failed')
  }
}
