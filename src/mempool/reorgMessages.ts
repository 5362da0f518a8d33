/**
 * What a head change does to pending messages: reverted tipsets give theirs back, applied ones take (sender, nonce) out
 * whatever the CID.
 * @see lotus chain/messagepool/messagepool.go HeadChange, runHeadChange
 */
import type { Address } from '../types/address.ts'
import { type Message, messageCid } from '../types/message.ts'
import { type SignedMessage, signedMessageCid } from '../types/signedMessage.ts'
import type { Tipset } from '../types/tipset.ts'
import { signedMessagesOf } from './blockMessagesOf.ts'
import type { MempoolChain } from './ports.ts'
import type { SignatureCheck } from './signatureCheck.ts'

/** Tipsets to take back, newest first, and to put on, oldest first. */
export interface ReorgPath {
  readonly reverted: readonly Tipset[]
  readonly applied: readonly Tipset[]
}

/** A nonce that the chain has used. */
export interface AppliedNonce {
  readonly from: Address
  readonly nonce: bigint
  /** Key of the CID that the block holds. */
  readonly cidKey: string
}

/** The outcome for the pool. */
export interface ReorgMessages {
  /** Nonces to take out of the pool. */
  readonly applied: readonly AppliedNonce[]
  /** Messages of reverted tipsets that no applied tipset has. */
  readonly returned: readonly SignedMessage[]
}

/** Reads the messages of both sides; changes nothing. */
export function reorgMessages(path: ReorgPath, chain: MempoolChain, signatures: SignatureCheck): ReorgMessages {
  const returned = new Map<string, SignedMessage>()
  for (const tipset of path.reverted) {
    for (const signed of signedMessagesOf(tipset.blocks, chain, signatures)) {
      returned.set(nonceKey(signed.message), signed)
    }
  }
  const applied: AppliedNonce[] = []
  for (const tipset of path.applied) {
    for (const block of tipset.blocks) {
      const { bls, signed } = chain.blockMessages(block)
      for (const signedMessage of signed) take(signedMessage.message, signedMessageCid(signedMessage).key)
      for (const message of bls) take(message, messageCid(message).key)
    }
  }
  return { applied, returned: [...returned.values()] }

  function take(message: Message, cidKey: string): void {
    returned.delete(nonceKey(message))
    applied.push({ from: message.from, nonce: message.nonce, cidKey })
  }
}

function nonceKey(message: Message): string {
  return `${message.nonce}:${message.from.key}`
}
