import { SIGNATURE_DELEGATED, SIGNATURE_SECP256K1 } from '../../types/signature.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import { ValidationError } from '../validationError.ts'

/** Before, the kind alone was no reason to refuse. */
const KIND_VERSION = 14
/** Delegated senders exist from here on. */
const DELEGATED_VERSION = 18
/** From here on other transactions than EIP-1559 ones are taken. */
const LEGACY_TRANSACTIONS_VERSION = 23
/** Length of an EIP-1559 signature, bytes; the others carry more. */
const EIP1559_SIGNATURE_LENGTH = 65

/**
 * Check 16.2: which signatures may stand in the second list.
 * @throws ValidationError `MESSAGE_KIND_WRONG`
 * @see lotus chain/consensus/signatures.go IsValidSecpkSigType; chain/consensus/common.go IsValidEthTxForSending
 */
export function checkMessageKind({ signature }: SignedMessage, networkVersion: number): void {
  const { type, data } = signature
  if (type === SIGNATURE_SECP256K1 || networkVersion < KIND_VERSION) return
  if (type !== SIGNATURE_DELEGATED || networkVersion < DELEGATED_VERSION) {
    throw new ValidationError('MESSAGE_KIND_WRONG', `block had invalid signed message: signature of type ${type}`)
  }
  if (networkVersion < LEGACY_TRANSACTIONS_VERSION && data.length !== EIP1559_SIGNATURE_LENGTH) {
    throw new ValidationError(
      'MESSAGE_KIND_WRONG',
      'network version should be at least NV23 for sending legacy ETH transactions',
    )
  }
}
