import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

const MS = 1000

/**
 * Check 5: not made later than now. What fails it may pass in a while.
 * @throws ValidationError `TIMESTAMP_IN_FUTURE`
 */
export function checkFuture({ header, view, deps }: BlockContext): void {
  const now = Math.floor(deps.nowMs() / MS)
  if (header.timestamp > now + view.network.allowableClockDriftSecs) {
    throw new ValidationError('TIMESTAMP_IN_FUTURE', `block was from the future: ${header.timestamp} > ${now}`)
  }
}
