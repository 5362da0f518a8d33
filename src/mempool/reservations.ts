/**
 * Places in the pool that are taken by messages on their way to disk. Whatever comes meanwhile is checked against the
 * pending messages and these; nobody else sees them.
 */
import type { Address } from '../types/address.ts'
import { MessageSet, type Placement } from './messageSet.ts'
import type { PooledMessage } from './pooledMessage.ts'

interface Draft {
  /** Pending and reserved messages of one sender. */
  readonly set: MessageSet
  reserved: number
}

/** Reserved places by key address. */
export class Reservations {
  readonly #drafts = new Map<string, Draft>()
  #generation = 0

  /** Changes when reservations were dropped: a nonce that was chosen behind one of them must be chosen anew. */
  get generation(): number {
    return this.#generation
  }

  /** Whether any message is on its way. */
  get hasAny(): boolean {
    return this.#drafts.size > 0
  }

  /** Pending and reserved messages; undefined: none of this sender's is reserved. */
  of(sender: Address): MessageSet | undefined {
    return this.#drafts.get(sender.key)?.set
  }

  /**
   * @param pending - what the sender has in the pool
   * @param stateNonce - its next nonce on chain
   * @throws MempoolError of {@link MessageSet.add}; then nothing has changed
   */
  reserve(
    sender: Address,
    pooled: PooledMessage,
    placement: Placement,
    pending: MessageSet | undefined,
    stateNonce: bigint,
  ): void {
    const draft = this.#drafts.get(sender.key) ?? { set: pending?.copy() ?? new MessageSet(stateNonce), reserved: 0 }
    draft.set.add(pooled, placement)
    draft.reserved++
    this.#drafts.set(sender.key, draft)
  }

  /** The reserved message is in the pool now. */
  settle(sender: Address): void {
    const draft = this.#drafts.get(sender.key)
    if (draft !== undefined && --draft.reserved === 0) this.#drafts.delete(sender.key)
  }

  /** None of the reserved messages comes. */
  drop(): void {
    this.#drafts.clear()
    this.#generation++
  }
}
