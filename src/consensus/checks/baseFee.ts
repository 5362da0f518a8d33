import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 17: the base fee that the parents' messages lead to.
 * @throws ValidationError `BASE_FEE_WRONG`
 */
export function checkBaseFee({ header, base, view }: BlockContext): void {
  const baseFee = view.baseFee(base)
  if (header.parentBaseFee !== baseFee) {
    throw new ValidationError(
      'BASE_FEE_WRONG',
      `base fee doesn't match: ${header.parentBaseFee} (header) != ${baseFee} (computed)`,
    )
  }
}
