import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 3: above its parents.
 * @throws ValidationError `HEIGHT_NOT_ABOVE_PARENTS`
 */
export function checkHeight({ header, base }: BlockContext): void {
  if (header.height <= base.height) {
    throw new ValidationError(
      'HEIGHT_NOT_ABOVE_PARENTS',
      `block height not greater than parent height: ${header.height} != ${base.height}`,
    )
  }
}
