/** Check 16.7: the sender's own signature. @see lotus chain/consensus/signatures.go AuthenticateMessage */
import { PetrelError } from '../../base/errors.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import { authenticateMessage } from '../../types/verifySignature.ts'
import type { BlockContext } from '../blockContext.ts'
import { senderKey } from '../senderKey.ts'
import { ValidationError } from '../validationError.ts'

export function checkMessageSignature(context: BlockContext, signed: SignedMessage): void {
  try {
    authenticateMessage(signed, senderKey(context, signed.message.from), BigInt(context.view.network.chainId))
  } catch (cause) {
    if (!(cause instanceof PetrelError) || cause instanceof BlockMissing) throw cause
    throw new ValidationError(
      'MESSAGE_SIGNATURE_INVALID',
      `block had invalid signed message: ${cause.message}`,
      {},
      { cause },
    )
  }
}
