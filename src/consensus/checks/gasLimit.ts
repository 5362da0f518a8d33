/** Check 16.4: all messages of a block fit its gas. */
import { ValidationError } from '../validationError.ts'

/** @param sum - of the gas limits so far */
export function checkGasLimit(sum: bigint, blockGasLimit: number): void {
  if (sum > blockGasLimit) throw new ValidationError('GAS_LIMIT_EXCEEDED', 'block gas limit exceeded')
}
