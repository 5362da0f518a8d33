import type { BlockContext } from '../blockContext.ts'
import { ConsensusError } from '../errors.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 2, second part: there is a tipset far enough back to hold the election with.
 * @throws ValidationError `LOOKBACK_UNKNOWN`
 */
export function checkLookback(context: BlockContext): void {
  try {
    void context.lookback
  } catch (cause) {
    if (!(cause instanceof ConsensusError)) throw cause
    const text = `failed to get lookback tipset for block: ${cause.message}`
    throw new ValidationError('LOOKBACK_UNKNOWN', text, {}, { cause })
  }
}
