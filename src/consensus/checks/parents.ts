import { sameCids } from '../../types/tipset.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'
import { checkDistinctMiners } from './distinctMiners.ts'

/**
 * Check 2, first part: the tipset that the block is checked against is the one it names, in whatever order, and one that can be built on.
 * That each of the parents is valid by itself does not say so: of a miner with two blocks either may be.
 * @throws ValidationError `PARENTS_UNKNOWN`, `DUPLICATE_MINER`
 * @see lotus chain/consensus/filcns/filecoin.go ValidateBlock (LoadTipSet sorts what the header names)
 */
export function checkParents({ header, base }: BlockContext): void {
  if (!sameCids(header.parents, base.key)) {
    throw new ValidationError('PARENTS_UNKNOWN', `load parent tipset failed (${header.parents.join(', ')})`)
  }
  checkDistinctMiners(base)
}
