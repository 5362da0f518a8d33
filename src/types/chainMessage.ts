/** A message as it stands in a block: bare (BLS, signed in aggregate) or with its signature. */
import type { Cid } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import { type Message, message, messageCid } from './message.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from './signedMessage.ts'

/** `bls`: its signature is part of the header's `blsAggregate`; `signed`: secp256k1 or delegated, with its own. */
export type ChainMessage =
  | { readonly kind: 'bls'; readonly message: Message }
  | { readonly kind: 'signed'; readonly message: Message; readonly signed: SignedMessage }

/** Of BlsMessages of a block; the signature is not at hand any more. */
export function blsChainMessage(value: Message): ChainMessage {
  return { kind: 'bls', message: value }
}

/** Of SecpkMessages of a block, which holds delegated signatures (Ethereum's), too. */
export function signedChainMessage(value: SignedMessage): ChainMessage {
  return { kind: 'signed', message: value.message, signed: value }
}

/** CID in the block: of the signed message unless BLS. */
export function chainMessageCid(value: ChainMessage): Cid {
  return value.kind === 'bls' ? messageCid(value.message) : signedMessageCid(value.signed)
}

/** Bytes on the chain, which inclusion is charged for. */
export function chainMessageLength(value: ChainMessage): number {
  return value.kind === 'bls' ? encode(message, value.message).length : encode(signedMessage, value.signed).length
}
