import type { Message } from '../../types/message.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 16.6: the sender's next nonce, counted on through the block.
 * @throws ValidationError `NONCE_WRONG`
 */
export function checkNonce(message: Message, expected: bigint): void {
  if (message.nonce !== expected) {
    throw new ValidationError('NONCE_WRONG', `wrong nonce (exp: ${expected}, got: ${message.nonce})`)
  }
}
