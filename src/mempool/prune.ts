/**
 * Chooses what to throw out of a pool that is too full: of senders that are not protected, everything that does not
 * stand in the best-paying chains. What fits in no chain (a nonce gap, an empty account) goes first.
 * @see lotus chain/messagepool/pruning.go pruneMessages
 */
import { finish } from '../base/steps.ts'
import type { Address } from '../types/address.ts'
import { type ChainConditions, createChains } from './createChains.ts'
import { compareChains, type MessageChain } from './messageChain.ts'
import type { SenderMessages } from './pendingMessages.ts'
import type { PooledMessage } from './pooledMessage.ts'
import type { ActorReader } from './ports.ts'

/** One message to remove. */
export interface Pruned {
  readonly sender: Address
  readonly nonce: bigint
}

/** What is left when it is done; protected messages count first and always stay. */
export interface PruneGoal {
  readonly messages: number
  readonly bytes: number
}

/**
 * @param conditions - base fee: a tenth of the real one, so that what may soon be worth including stays
 */
export function choosePruned(
  pending: Iterable<SenderMessages>,
  isProtected: (sender: Address) => boolean,
  actors: ActorReader,
  conditions: Omit<ChainConditions, 'actor'>,
  goal: PruneGoal,
): Pruned[] {
  const candidates = new Map<PooledMessage, Pruned>()
  const chains: MessageChain[] = []
  const actorOf = finish(actors.senders())
  let kept = 0
  let keptBytes = 0
  for (const { sender, set } of pending) {
    if (isProtected(sender)) {
      kept += set.size
      for (const { sizeBytes } of set.messages.values()) keptBytes += sizeBytes
      continue
    }
    const messages = set.toSorted()
    for (const pooled of messages) candidates.set(pooled, { sender, nonce: pooled.message.nonce })
    for (const chain of createChains(messages, { ...conditions, actor: actorOf(sender) })) chains.push(chain)
  }
  chains.sort(compareChains)
  for (const chain of chains) {
    for (const pooled of chain.messages) {
      keptBytes += pooled.sizeBytes
      if (kept >= goal.messages || keptBytes > goal.bytes) return [...candidates.values()]
      candidates.delete(pooled)
      kept++
    }
  }
  return [...candidates.values()]
}
