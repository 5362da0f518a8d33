import { repeatedMiner, type Tipset } from '../../types/tipset.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Of a tipset that others build on: its blocks are of different miners.
 * @throws ValidationError `DUPLICATE_MINER`: execution refuses such a tipset
 * @see lotus chain/consensus/compute_state.go ExecuteTipSet
 */
export function checkDistinctMiners(tipset: Tipset): void {
  const miner = repeatedMiner(tipset)
  if (miner === undefined) return
  throw new ValidationError('DUPLICATE_MINER', `duplicate miner in a tipset at height ${tipset.height} (${miner})`)
}
