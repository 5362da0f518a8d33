import { Lru } from '../base/lru.ts'
import type { Clock } from '../base/ports.ts'
import { MAX_BUDGETED_PEERS } from './limits.ts'
import type { PeerName } from './peerLinks.ts'

/** A bucket's size and how fast it fills, in the caller's unit. */
export interface Budget {
  readonly capacity: number
  readonly perSecond: number
}

interface Bucket {
  readonly filledTo: number
  readonly atMs: number
}

/** How much a peer may ask for: a bucket each that fills with time. */
export class PeerBudget {
  readonly #clock: Clock
  readonly #budget: Budget
  readonly #buckets = new Lru<PeerName, Bucket>(MAX_BUDGETED_PEERS)

  constructor(clock: Clock, budget: Budget) {
    this.#clock = clock
    this.#budget = budget
  }

  /** Whether `cost` is in a peer's bucket. */
  has(peer: PeerName, cost: number): boolean {
    return this.#level(peer, this.#clock.monotonicMs()) >= cost
  }

  /** Takes `cost` from a peer's bucket; false, and nothing taken, when it is not there. */
  take(peer: PeerName, cost = 1): boolean {
    const atMs = this.#clock.monotonicMs()
    const has = this.#level(peer, atMs)
    const enough = has >= cost
    this.#buckets.set(peer, { filledTo: enough ? has - cost : has, atMs })
    return enough
  }

  /** Takes as much of `cost` as is there; false when that is less. For what was done already, without a debt. */
  spend(peer: PeerName, cost: number): boolean {
    const atMs = this.#clock.monotonicMs()
    const left = this.#level(peer, atMs) - cost
    this.#buckets.set(peer, { filledTo: Math.max(0, left), atMs })
    return left >= 0
  }

  /** Takes `cost` for what was done already, down to a debt of one capacity. */
  charge(peer: PeerName, cost: number): void {
    const atMs = this.#clock.monotonicMs()
    const left = this.#level(peer, atMs) - cost
    this.#buckets.set(peer, { filledTo: Math.max(left, -this.#budget.capacity), atMs })
  }

  #level(peer: PeerName, nowMs: number): number {
    const { capacity, perSecond } = this.#budget
    const bucket = this.#buckets.get(peer)
    if (bucket === undefined) return capacity
    return Math.min(capacity, bucket.filledTo + ((nowMs - bucket.atMs) * perSecond) / 1000)
  }
}
