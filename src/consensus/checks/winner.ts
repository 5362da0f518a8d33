import type { ElectionProof } from '../../types/blockHeader.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 9, first half: the block says that its miner won.
 * @throws ValidationError `NOT_A_WINNER`
 */
export function checkWinner({ header }: BlockContext): void {
  if ((header.electionProof as ElectionProof).winCount < 1) {
    throw new ValidationError('NOT_A_WINNER', 'block is not claiming to be a winner')
  }
}
