/** Every pending message, by sender; who is local; and who listens to changes. */
import type { Address } from '../types/address.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { MessageSet, type Placement } from './messageSet.ts'
import type { PooledMessage } from './pooledMessage.ts'

/** One change of the pool. A replacement is an `add` alone; a `remove` does not say why, as in Lotus. */
export interface MempoolUpdate {
  readonly type: 'add' | 'remove'
  readonly message: SignedMessage
}

/** Called for every change, in order. */
export type UpdateListener = (update: MempoolUpdate) => void

/** A sender's messages with its key address. */
export interface SenderMessages {
  readonly sender: Address
  readonly set: MessageSet
}

/** The pool's contents. Addresses given here are key addresses. */
export class PendingMessages {
  readonly #sets = new Map<string, SenderMessages>()
  readonly #locals = new Map<string, Address>()
  readonly #listeners = new Set<UpdateListener>()
  #size = 0
  #bytes = 0
  #sorted: SignedMessage[] | undefined

  /** Messages in the pool. */
  get size(): number {
    return this.#size
  }

  /** Length of all of them as signed CBOR, bytes. */
  get bytes(): number {
    return this.#bytes
  }

  of(sender: Address): MessageSet | undefined {
    return this.#sets.get(sender.key)?.set
  }

  senders(): Iterable<SenderMessages> {
    return this.#sets.values()
  }

  /** All messages: senders in order of arrival, each sender's by nonce. The array is shared; do not change it. */
  all(): readonly SignedMessage[] {
    if (this.#sorted === undefined) {
      this.#sorted = []
      for (const { set } of this.#sets.values()) {
        for (const pooled of set.toSorted()) this.#sorted.push(pooled.signed)
      }
    }
    return this.#sorted
  }

  /**
   * Adds or replaces.
   * @param stateNonce - the sender's next nonce on chain, for its first message
   * @throws MempoolError of {@link MessageSet.add}; then nothing has changed
   */
  add(sender: Address, pooled: PooledMessage, placement: Placement, stateNonce: () => bigint): void {
    let entry = this.#sets.get(sender.key)
    if (entry === undefined) entry = { sender, set: new MessageSet(stateNonce()) }
    const replaced = entry.set.add(pooled, placement)
    this.#sets.set(sender.key, entry)
    if (replaced === undefined) this.#size++
    this.#bytes += pooled.sizeBytes - (replaced?.sizeBytes ?? 0)
    this.#changed({ type: 'add', message: pooled.signed })
  }

  /** Takes whatever is at a nonce out; tells the set even when nothing is there. */
  remove(sender: Address, nonce: bigint, applied: boolean): void {
    const entry = this.#sets.get(sender.key)
    if (entry === undefined) return
    const pooled = entry.set.messages.get(nonce)
    entry.set.remove(nonce, applied)
    if (entry.set.size === 0) this.#sets.delete(sender.key)
    if (pooled === undefined) return
    this.#size--
    this.#bytes -= pooled.sizeBytes
    this.#changed({ type: 'remove', message: pooled.signed })
  }

  /** Forgets a sender's messages without a word to the listeners, as MpoolClear does. */
  forget(sender: Address): void {
    const entry = this.#sets.get(sender.key)
    if (entry === undefined) return
    this.#sets.delete(sender.key)
    this.#size -= entry.set.size
    for (const { sizeBytes } of entry.set.messages.values()) this.#bytes -= sizeBytes
    this.#sorted = undefined
  }

  /** From now on all messages of this sender are ours: never pruned, republished. */
  markLocal(sender: Address): void {
    this.#locals.set(sender.key, sender)
  }

  isLocal(sender: Address): boolean {
    return this.#locals.has(sender.key)
  }

  locals(): Iterable<Address> {
    return this.#locals.values()
  }

  /** @returns what ends the subscription */
  subscribe(listener: UpdateListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #changed(update: MempoolUpdate): void {
    this.#sorted = undefined
    for (const listener of this.#listeners) listener(update)
  }
}
