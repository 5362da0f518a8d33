import { ChainError } from '../../chain/errors.ts'
import { TypesError } from '../../types/errors.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import type { BlockContext } from '../blockContext.ts'
import { senderKey } from '../senderKey.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 16.7: the sender's own signature.
 * @throws ValidationError `MESSAGE_SIGNATURE_INVALID`
 * @see lotus chain/consensus/signatures.go AuthenticateMessage
 */
export function checkMessageSignature(context: BlockContext, signed: SignedMessage): void {
  const chainId = BigInt(context.view.network.chainId)
  try {
    context.signatures.authenticate(signed, senderKey(context, signed.message.from), chainId)
  } catch (cause) {
    throw messageSignatureInvalid(cause)
  }
}

/** What a block with such a message fails with; what says nothing of the signature (a store that cannot be read) as it is. */
export function messageSignatureInvalid(cause: unknown): unknown {
  if (!(cause instanceof ChainError || cause instanceof TypesError)) return cause
  const text = `block had invalid signed message: ${cause.message}`
  return new ValidationError('MESSAGE_SIGNATURE_INVALID', text, {}, { cause })
}
