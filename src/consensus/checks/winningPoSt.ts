import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 15: the winning proof of spacetime, by the verifier at hand.
 * @throws ValidationError `WINNING_POST_INVALID`
 */
export function checkWinningPoSt(context: BlockContext): void {
  const wrong = context.deps.winningPoSt(context)
  if (wrong !== undefined) throw new ValidationError('WINNING_POST_INVALID', `invalid election post: ${wrong}`)
}
