/** The messages that could stand in a block on top of any tipset, which need not be the pool's own. */
import type { Steps } from '../base/steps.ts'
import { branchesBetween } from '../chain/headChange.ts'
import type { Address } from '../types/address.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { MAX_SELECT_TIPSETS } from './limits.ts'
import { sortByNonce } from './messageSet.ts'
import type { PendingMessages } from './pendingMessages.ts'
import { createPooledMessage, type PooledMessage } from './pooledMessage.ts'
import type { MempoolChain } from './ports.ts'
import { reorgSteps } from './reorgMessages.ts'
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
 * @throws ChainError `PATH_TOO_LONG`
 * @see lotus chain/messagepool/selection.go getPendingMessages
 */
export function* candidatesAt(tipset: Tipset, own: Tipset, parts: CandidateParts): Steps<Candidates[]> {
  const { pending, senders } = parts
  const bySender = new Map<string, Candidates>()
  for (const { sender, set } of pending.senders()) bySender.set(sender.key, { sender, messages: set.toSorted() })
  if (equalTipsetKeys(tipset.key, own.key)) return [...bySender.values()]
  const path = branchesBetween((key) => parts.chain.loadTipset(key), own, tipset, MAX_SELECT_TIPSETS)
  const change = yield* reorgSteps(path, parts.chain, parts.signatures)
  const changed = new Map<string, Map<bigint, PooledMessage>>()
  const messagesOf = (sender: Address): Map<bigint, PooledMessage> => {
    let byNonce = changed.get(sender.key)
    if (byNonce === undefined) {
      const before = bySender.get(sender.key)?.messages ?? []
      byNonce = new Map(before.map((pooled) => [pooled.message.nonce, pooled]))
      changed.set(sender.key, byNonce)
      bySender.set(sender.key, { sender, messages: before })
    }
    return byNonce
  }
  for (const { message } of change.applied) {
    const sender = senders.tryResolve(message.from, own)
    if (sender !== undefined && bySender.has(sender.key)) messagesOf(sender).delete(message.nonce)
  }
  for (const signed of change.returned) {
    const sender = senders.tryResolve(signed.message.from, own)
    if (sender !== undefined) messagesOf(sender).set(signed.message.nonce, createPooledMessage(signed))
  }
  return [...bySender.values()].map(({ sender, messages }) => {
    const byNonce = changed.get(sender.key)
    return { sender, messages: byNonce === undefined ? messages : sortByNonce([...byNonce.values()]) }
  })
}
