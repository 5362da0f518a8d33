/** Check 16.6: the sender's next nonce, counted on through the block. */
import type { Message } from '../../types/message.ts'
import { ValidationError } from '../validationError.ts'

export function checkNonce(one: Message, expected: bigint): void {
  if (one.nonce !== expected) {
    throw new ValidationError('NONCE_WRONG', `wrong nonce (exp: ${expected}, got: ${one.nonce})`)
  }
}
