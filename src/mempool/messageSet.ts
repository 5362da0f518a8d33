/**
 * The pending messages of one sender by nonce.
 *
 *   next nonce = first nonce that is neither on chain nor filled here
 *   add        fills a nonce, or replaces the message there if the premium is high enough
 *   remove     applied: moves the next nonce past it; pruned: moves it back to the hole
 *
 * @see lotus chain/messagepool/messagepool.go msgSet
 */
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { MempoolError } from './errors.ts'
import { minimumReplacementPremium } from './fees.ts'
import { MAX_NONCE_GAP, MAX_PENDING_PER_SENDER, MAX_UNTRUSTED_PENDING_PER_SENDER } from './limits.ts'
import type { PooledMessage } from './pooledMessage.ts'

/** How strictly a message is placed. */
export interface Placement {
  /** Gossip: a gap above the limit is refused. Local and loaded messages may leave any gap. */
  readonly strict: boolean
  /** Pushed by a stranger: fewer messages per sender, no gap at all (the gap counts only when strict). */
  readonly untrusted: boolean
  /** The sender's address as error texts show it. */
  readonly sender: string
  /** From a reverted tipset: however many there are. */
  readonly returns?: boolean
}

/** The pending messages of one sender. */
export class MessageSet {
  readonly messages: Map<bigint, PooledMessage> = new Map()
  /** First nonce that is free. */
  nextNonce: bigint
  /** Fee cap times gas limit of all of them, attoFIL. */
  requiredFunds: TokenAmount = 0n
  /** Whether they came by ascending nonce, as a sender's mostly do: each of its estimates asks for all before it. */
  #inOrder = true
  #highest = -1n
  #sorted: readonly PooledMessage[] | undefined
  /** Epoch of the head when a nonce was first filled; a replaced message has waited as long. */
  readonly #since = new Map<bigint, ChainEpoch>()

  /** @param nextNonce - the sender's nonce in the state after the pool's tipset */
  constructor(nextNonce: bigint) {
    this.nextNonce = nextNonce
  }

  get size(): number {
    return this.messages.size
  }

  /** The same messages in a set of its own. */
  copy(): MessageSet {
    const copy = new MessageSet(this.nextNonce)
    for (const [nonce, pooled] of this.messages) copy.messages.set(nonce, pooled)
    copy.requiredFunds = this.requiredFunds
    copy.#inOrder = this.#inOrder
    copy.#highest = this.#highest
    return copy
  }

  /**
   * Places a message.
   * @returns the message that it replaces
   * @throws {@link MempoolError} `NONCE_GAP`, `NONCE_TAKEN`, `REPLACE_PREMIUM_TOO_LOW`, `TOO_MANY_PENDING`
   */
  add(pooled: PooledMessage, placement: Placement): PooledMessage | undefined {
    const { nonce, gasPremium } = pooled.message
    const { strict, untrusted, sender, returns } = placement
    const maxGap = untrusted ? 0n : MAX_NONCE_GAP
    let nextNonce = this.nextNonce
    if (nonce === nextNonce) nextNonce = this.#firstFree(nextNonce + 1n)
    else if (strict && nonce > nextNonce + maxGap) {
      throw new MempoolError(
        'NONCE_GAP',
        `message nonce has too big a gap from expected nonce (Nonce: ${nonce}, nextNonce: ${nextNonce}): unfulfilled nonce gap`,
      )
    }
    const gap = nonce > this.nextNonce
    const existing = this.messages.get(nonce)
    if (existing !== undefined) {
      if (strict && gap) {
        throw new MempoolError(
          'NONCE_GAP',
          `rejecting replace by fee because of nonce gap (Nonce: ${nonce}, nextNonce: ${nextNonce}): unfulfilled nonce gap`,
        )
      }
      if (existing.cid.equals(pooled.cid)) {
        throw new MempoolError(
          'NONCE_TAKEN',
          `message from ${sender} with nonce ${nonce} already in mpool: message with nonce already exists`,
        )
      }
      const minimum = minimumReplacementPremium(existing.message.gasPremium)
      if (gasPremium < minimum) {
        throw new MempoolError(
          'REPLACE_PREMIUM_TOO_LOW',
          `message from ${sender} with nonce ${nonce} already in mpool, increase GasPremium to ${minimum} from ` +
            `${gasPremium} to trigger replace by fee: replace by fee has too low GasPremium`,
          { minimum, premium: gasPremium },
        )
      }
      this.requiredFunds -= existing.requiredFunds
    } else if (
      returns !== true &&
      this.messages.size >= (untrusted ? MAX_UNTRUSTED_PENDING_PER_SENDER : MAX_PENDING_PER_SENDER)
    ) {
      throw new MempoolError('TOO_MANY_PENDING', 'too many pending messages for actor')
    }
    this.nextNonce = nextNonce
    this.#sorted = undefined
    // A replaced message keeps its place in the map.
    if (existing === undefined) this.#inOrder &&= nonce > this.#highest
    if (nonce > this.#highest) this.#highest = nonce
    this.messages.set(nonce, pooled)
    this.requiredFunds += pooled.requiredFunds
    return existing
  }

  /** The message of a nonce waits since that epoch, unless another did before it. */
  waits(nonce: bigint, since: ChainEpoch): void {
    if (!this.#since.has(nonce)) this.#since.set(nonce, since)
  }

  /** Epoch since which the oldest of those waits that were told of. */
  get waitsSince(): ChainEpoch | undefined {
    let oldest: ChainEpoch | undefined
    for (const since of this.#since.values()) if (oldest === undefined || since < oldest) oldest = since
    return oldest
  }

  /**
   * Takes the message of a nonce out.
   * @param applied - it is on chain now (whatever its CID); otherwise it was pruned
   */
  remove(nonce: bigint, applied: boolean): void {
    const existing = this.messages.get(nonce)
    if (existing === undefined) {
      // applied, but not known here: the chain moved on and may have closed a gap
      if (applied && nonce >= this.nextNonce) this.nextNonce = this.#firstFree(nonce + 1n)
      return
    }
    this.requiredFunds -= existing.requiredFunds
    this.messages.delete(nonce)
    this.#since.delete(nonce)
    this.#sorted = undefined
    if (applied) {
      if (nonce >= this.nextNonce) this.nextNonce = nonce + 1n
    } else if (nonce < this.nextNonce) this.nextNonce = nonce
  }

  /** What all messages but the one at `nonce` can cost in gas, attoFIL. */
  requiredFundsWithout(nonce: bigint): TokenAmount {
    return this.requiredFunds - (this.messages.get(nonce)?.requiredFunds ?? 0n)
  }

  /** Messages by ascending nonce: the same array as long as nothing changes, which is never written to. */
  toSorted(): readonly PooledMessage[] {
    if (this.#sorted === undefined) {
      const messages = [...this.messages.values()]
      this.#sorted = this.#inOrder ? messages : sortByNonce(messages)
    }
    return this.#sorted
  }

  /** The first nonce that is free, not on chain as far as this set knows, and at least `least`. */
  freeFrom(least: bigint): bigint {
    return this.#firstFree(least > this.nextNonce ? least : this.nextNonce)
  }

  #firstFree(from: bigint): bigint {
    let nonce = from
    while (this.messages.has(nonce)) nonce++
    return nonce
  }
}

/** Sorts in place by ascending nonce. */
export function sortByNonce(messages: PooledMessage[]): PooledMessage[] {
  return messages.sort((a, b) => (a.message.nonce < b.message.nonce ? -1 : a.message.nonce > b.message.nonce ? 1 : 0))
}
