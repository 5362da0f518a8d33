/** A signed message with what the pool asks of it again and again, computed once. */
import { messageSyntaxError } from '../chain/messageSyntax.ts'
import type { Cid } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import { type Message, message, messageCid } from '../types/message.ts'
import { SIGNATURE_BLS } from '../types/signature.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { MempoolError } from './errors.ts'
import { requiredFunds } from './fees.ts'

/** One message of the pool. */
export interface PooledMessage {
  readonly signed: SignedMessage
  readonly message: Message
  /** Unsigned CID for BLS, CID of the signed CBOR otherwise: the one that blocks and answers use. */
  readonly cid: Cid
  readonly unsignedCid: Cid
  /** Length of the whole signed CBOR, bytes. */
  readonly sizeBytes: number
  /** Length that on-chain gas is charged for, bytes: unsigned for BLS, signed otherwise. */
  readonly chainLengthBytes: number
  /** Fee cap times gas limit, attoFIL. */
  readonly requiredFunds: bigint
}

/**
 * @throws {@link MempoolError} `MESSAGE_INVALID` without recipient or sender: such a message has no CBOR form
 * @see lotus chain/types/signedmessage.go Cid, ChainLength
 */
export function createPooledMessage(signed: SignedMessage): PooledMessage {
  const { to, from } = signed.message
  if (to.isUndefined || from.isUndefined) {
    const problem = messageSyntaxError(signed.message, 0n, 0) ?? 'address cannot be empty'
    throw new MempoolError('MESSAGE_INVALID', `message not valid for block inclusion: ${problem}`)
  }
  const unsignedBytes = encode(message, signed.message)
  const signedBytes = encode(signedMessage, signed)
  return {
    signed,
    message: signed.message,
    cid: signedMessageCid(signed),
    unsignedCid: messageCid(signed.message),
    sizeBytes: signedBytes.length,
    chainLengthBytes: signed.signature.type === SIGNATURE_BLS ? unsignedBytes.length : signedBytes.length,
    requiredFunds: requiredFunds(signed.message),
  }
}
