import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 18, first half: the state that executing the parents gave. Nothing to compare for a follower that does not execute.
 * @throws ValidationError `STATE_ROOT_WRONG`
 */
export function checkStateRoot({ header, baseResult }: BlockContext): void {
  if (baseResult === undefined || header.parentStateRoot.equals(baseResult.stateRoot)) return
  const computed = baseResult.stateRoot.toString()
  const claimed = header.parentStateRoot.toString()
  const text = `parent state root did not match computed state (${claimed} != ${computed})`
  throw new ValidationError('STATE_ROOT_WRONG', text, { computed, claimed })
}
