import { firstBlock } from '../../types/tipset.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 4: made at the second that its height says.
 * @throws ValidationError `TIMESTAMP_WRONG`
 */
export function checkTimestamp({ header, base, view }: BlockContext): void {
  const expected = firstBlock(base).timestamp + view.network.blockDelaySecs * (header.height - base.height)
  if (header.timestamp !== expected) {
    throw new ValidationError('TIMESTAMP_WRONG', `block had wrong timestamp: ${header.timestamp} != ${expected}`)
  }
}
