import { equalTipsetKeys } from '../../types/tipset.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 2, first part: the tipset that the block is checked against is the one it names.
 * @throws ValidationError `PARENTS_UNKNOWN`
 */
export function checkParents({ header, base }: BlockContext): void {
  if (!equalTipsetKeys(header.parents, base.key)) {
    throw new ValidationError('PARENTS_UNKNOWN', `load parent tipset failed (${header.parents.join(', ')})`)
  }
}
