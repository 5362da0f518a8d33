/**
 * Messages with their signature, and the CIDs by which they are known.
 * @see lotus chain/types/signedmessage.go
 */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, encode, tuple } from '../codec/description.ts'
import { withShown } from '../codec/structJson.ts'
import { blockCid } from '../crypto/blockCid.ts'
import { type Message, message, messageCid } from './message.ts'
import { SIGNATURE_BLS, type Signature, signature } from './signature.ts'

/** What a sender gives to the pool. Blocks keep it whole only where the signature is not BLS. */
export interface SignedMessage {
  readonly message: Message
  readonly signature: Signature
}

const base: Codec<SignedMessage> = tuple<SignedMessage>('types.SignedMessage', [
  ['message', 'Message', message],
  ['signature', 'Signature', signature],
])

/** CBOR array of 2. JSON has also `CID`: that of the unsigned message for BLS, else of the signed one. */
export const signedMessage: Codec<SignedMessage> = withShown(base, 'CID', cid, signedMessageCid)

const cids = new WeakMap<SignedMessage, Cid>()

/** The CID by which blocks and the pool know it: of the unsigned message for BLS, else of the signed one. */
export function signedMessageCid(value: SignedMessage): Cid {
  if (value.signature.type === SIGNATURE_BLS) return messageCid(value.message)
  let known = cids.get(value)
  if (known === undefined) {
    known = blockCid(encode(signedMessage, value))
    cids.set(value, known)
  }
  return known
}
