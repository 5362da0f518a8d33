/**
 * Publishes our messages, those of a sender in the order of their nonces. Peers take no more than four beyond a gap, and what
 * they have refused they do not look at again for two minutes: one message that nobody heard would keep back all that come after it.
 */
import { errorMessage } from '../../base/errors.ts'
import type { Address } from '../../types/address.ts'
import { firstBlock } from '../../types/tipset.ts'
import { feeCapLowerBound } from '../fees.ts'
import { MAX_UNHEARD_RETRY_MS, PUBLISH_SPACING_MS, UNHEARD_RETRY_MS } from '../limits.ts'
import type { PooledMessage } from '../pooledMessage.ts'
import { ADD_BASE_FEE_DIVISOR } from '../rules.ts'
import type { PoolState } from './poolState.ts'

interface Unheard {
  readonly sender: Address
  readonly messages: Map<bigint, PooledMessage>
}

/** Publishes for one pool. */
export class Publishing {
  readonly #state: PoolState
  /** Messages of which nobody may have heard, by their senders. */
  readonly #unheard = new Map<string, Unheard>()
  #isPublishing = false
  #isWaiting = false
  #retryMs = UNHEARD_RETRY_MS

  constructor(state: PoolState) {
    this.#state = state
  }

  /** A message that was taken just now. */
  async publish(sender: Address, pooled: PooledMessage): Promise<void> {
    const isNext = !this.#unheard.has(sender.key) && !this.#isBehind(pooled)
    if (isNext && (await this.#send(sender, pooled))) return
    this.publishLater(sender, pooled)
    if (!isNext) await this.#publishAll()
  }

  #send(sender: Address, pooled: PooledMessage): Promise<boolean> {
    return this.#state.publish(pooled, () => this.publishLater(sender, pooled))
  }

  /** One that is back from disk, or went to peers that are gone: it may have come that far and no further. */
  publishLater(sender: Address, pooled: PooledMessage): void {
    const { key } = sender
    const unheard = this.#unheard.get(key) ?? { sender, messages: new Map() }
    unheard.messages.set(pooled.message.nonce, pooled)
    this.#unheard.set(key, unheard)
    this.#wait()
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#state.timers.after(this.#retryMs, () => {
      this.#isWaiting = false
      void this.#publishAll()
    })
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_UNHEARD_RETRY_MS)
  }

  /** Of all senders in turn, until nobody hears it. */
  async #publishAll(): Promise<void> {
    if (this.#isPublishing) return
    this.#isPublishing = true
    try {
      for (let isMore = true; isMore; ) {
        isMore = false
        for (const unheard of [...this.#unheard.values()]) {
          const pooled = this.#next(unheard)
          if (pooled === undefined) continue
          isMore = await this.#send(unheard.sender, pooled)
          if (!isMore) break
          this.#retryMs = UNHEARD_RETRY_MS
          this.#remove(unheard, pooled)
          await this.#state.timers.pause(PUBLISH_SPACING_MS)
        }
      }
    } catch (error) {
      this.#state.deps.logger.warn('mempool: publishing failed', { error: errorMessage(error) })
    } finally {
      this.#isPublishing = false
      if (this.#unheard.size > 0) this.#wait()
    }
  }

  /** What a sender's peers can take now. Of what they would never take, or have, nothing is kept. */
  #next(unheard: Unheard): PooledMessage | undefined {
    const { sender, messages } = unheard
    const { tipset, pending } = this.#state
    const bound = feeCapLowerBound(firstBlock(tipset).parentBaseFee, ADD_BASE_FEE_DIVISOR)
    const inOrder = [...messages.values()].sort((a, b) => Number(a.message.nonce - b.message.nonce))
    for (const pooled of inOrder) {
      const { nonce, gasFeeCap } = pooled.message
      const isPending = pending.of(sender)?.messages.get(nonce) === pooled
      if (isPending && gasFeeCap >= bound) return this.#isBehind(pooled) ? undefined : pooled
      // Peers blame a sender for one that pays too little, and take nothing that is beyond it.
      for (const gone of isPending ? inOrder : [pooled]) this.#remove(unheard, gone)
    }
    return undefined
  }

  #remove({ sender, messages }: Unheard, pooled: PooledMessage): void {
    const { nonce } = pooled.message
    // It may have been replaced meanwhile.
    if (messages.get(nonce) === pooled) messages.delete(nonce)
    if (messages.size === 0) this.#unheard.delete(sender.key)
  }

  /** Whether one before it is still on disk alone. */
  #isBehind({ message: { from, nonce } }: PooledMessage): boolean {
    for (const { signed } of this.#state.returning) {
      if (signed.message.nonce < nonce && signed.message.from.equals(from)) return true
    }
    return false
  }
}
