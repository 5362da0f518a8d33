import { ChainError } from '../../chain/errors.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 2, third part: a beacon entry stands in the parents or in the 19 tipsets before them.
 * @throws ValidationError `PREVIOUS_BEACON_UNKNOWN`
 */
export function checkPreviousBeacon(context: BlockContext): void {
  try {
    void context.previousBeacon
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    const text = `failed to get latest beacon entry: ${cause.message}`
    throw new ValidationError('PREVIOUS_BEACON_UNKNOWN', text, {}, { cause })
  }
}
