/** Check 9, first half: the block says that its miner won. */
import type { ElectionProof } from '../../types/blockHeader.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

export function checkWinner({ header }: BlockContext): void {
  if ((header.electionProof as ElectionProof).winCount < 1) {
    throw new ValidationError('NOT_A_WINNER', 'block is not claiming to be a winner')
  }
}
