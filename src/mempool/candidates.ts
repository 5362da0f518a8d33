/** The messages that could stand in a block on top of any tipset, which need not be the pool's own. */
import { branchesBetween } from '../chain/headChange.ts'
import type { Address } from '../types/address.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import type { PendingMessages } from './pendingMessages.ts'
import { createPooledMessage, type PooledMessage } from './pooledMessage.ts'
import type { MempoolChain } from './ports.ts'
import { reorgMessages } from './reorgMessages.ts'
import type { Candidates } from './selectMessages.ts'
import type { Senders } from './senders.ts'
import type { SignatureCheck } from './signatureCheck.ts'

/** The parts of the pool that are read. */
export interface CandidateParts {
  readonly pending: PendingMessages
  readonly senders: Senders
  readonly signatures: SignatureCheck
  readonly chain: MempoolChain
}

/**
 * Pending messages as they would be with `tipset` as head: without what lies on the way to it, with what lies on the way
 * back from the pool's own.
 * @param own - the pool's tipset
 * @see lotus chain/messagepool/selection.go getPendingMessages
 */
export function candidatesAt(tipset: Tipset, own: Tipset, parts: CandidateParts): Candidates[] {
  const { pending, senders, signatures, chain } = parts
  const bySender = new Map<string, { sender: Address; byNonce: Map<bigint, PooledMessage> }>()
  const messagesOf = (sender: Address): Map<bigint, PooledMessage> => {
    let entry = bySender.get(sender.key)
    if (entry === undefined) {
      entry = { sender, byNonce: new Map() }
      bySender.set(sender.key, entry)
    }
    return entry.byNonce
  }
  for (const { sender, set } of pending.senders()) {
    for (const [nonce, pooled] of set.messages) messagesOf(sender).set(nonce, pooled)
  }
  if (!equalTipsetKeys(tipset.key, own.key)) {
    const path = branchesBetween((key) => chain.loadTipset(key), own, tipset)
    const change = reorgMessages(path, chain, signatures)
    for (const { from, nonce } of change.applied) {
      const sender = senders.tryResolve(from, own)
      if (sender !== undefined) bySender.get(sender.key)?.byNonce.delete(nonce)
    }
    for (const signed of change.returned) {
      const sender = senders.tryResolve(signed.message.from, own)
      if (sender !== undefined) messagesOf(sender).set(signed.message.nonce, createPooledMessage(signed))
    }
  }
  return [...bySender.values()].map(({ sender, byNonce }) => ({ sender, messages: [...byNonce.values()] }))
}
