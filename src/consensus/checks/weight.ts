import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 7: the weight that the block claims for its parents.
 * @throws ValidationError `WEIGHT_WRONG`
 */
export function checkWeight({ header, base, view }: BlockContext): void {
  const weight = view.weight(base)
  if (header.parentWeight !== weight) {
    throw new ValidationError(
      'WEIGHT_WRONG',
      `parrent weight different: ${header.parentWeight} (header) != ${weight} (computed)`,
    )
  }
}
