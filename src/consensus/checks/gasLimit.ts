/** Check 16.4: all messages of a block fit its gas. */
import { BLOCK_GAS_LIMIT } from '../../types/protocol.ts'
import { ValidationError } from '../validationError.ts'

/** @param sum - of the gas limits so far */
export function checkGasLimit(sum: bigint): void {
  if (sum > BLOCK_GAS_LIMIT) throw new ValidationError('GAS_LIMIT_EXCEEDED', 'block gas limit exceeded')
}
