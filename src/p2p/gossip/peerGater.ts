import { Lru } from '../../base/lru.ts'
import type { Clock } from '../../base/ports.ts'
import type { PeerName } from '../peerLinks.ts'
import type { Verdict } from '../pubSub.ts'
import type { PeerGater as GaterValues } from './scores.ts'

/** It listens to all again when so long nothing was turned away, ms. */
const QUIET_MS = 60_000
/** What an ignored and a rejected message weigh against a delivered one. */
const IGNORE_WEIGHT = 1
const REJECT_WEIGHT = 16
/** Peers remembered. */
const PEERS = 4096

/** A counter that fades. */
class Fading {
  readonly #decay: number
  readonly #values: GaterValues
  #value = 0
  #atMs = 0

  /** @param decay - factor per decay interval */
  constructor(values: GaterValues, decay: number) {
    this.#values = values
    this.#decay = decay
  }

  at(nowMs: number): number {
    const { decayInterval, decayToZero } = this.#values
    const steps = Math.floor((nowMs - this.#atMs) / decayInterval)
    if (steps > 0) {
      this.#atMs += steps * decayInterval
      this.#value *= this.#decay ** steps
      if (this.#value < decayToZero) this.#value = 0
    }
    return this.#value
  }

  add(amount: number, nowMs: number): void {
    this.#value = this.at(nowMs) + amount
  }
}

interface PeerRecord {
  readonly delivered: Fading
  /** Ignored and rejected ones, weighed. */
  readonly useless: Fading
  /** What is left of its share: at one it is heard. */
  credit: number
}

/**
 * While more comes in than can be judged, whom to listen to: a peer is heard as often as what it brought was of use.
 * @see go-libp2p-pubsub peer_gater.go peerGater.AcceptFrom
 */
export class PeerGater {
  readonly #values: GaterValues
  readonly #clock: Clock
  readonly #records = new Lru<PeerName, PeerRecord>(PEERS)
  readonly #judged: Fading
  readonly #turnedAway: Fading
  #lastTurnedAwayMs = Number.NEGATIVE_INFINITY

  constructor(values: GaterValues, clock: Clock) {
    this.#values = values
    this.#clock = clock
    this.#judged = new Fading(values, values.globalDecay)
    this.#turnedAway = new Fading(values, values.globalDecay)
  }

  /** Whether a message of a peer should be looked at. The share is exact rather than drawn by lot. */
  admits(peer: PeerName): boolean {
    const now = this.#clock.monotonicMs()
    if (!this.#isOverloaded(now)) return true
    const record = this.#records.get(peer)
    if (record === undefined) return true
    const delivered = record.delivered.at(now)
    record.credit += (1 + delivered) / (1 + delivered + record.useless.at(now))
    if (record.credit < 1) return false
    record.credit -= 1
    return true
  }

  /** Whether most of what a peer brought was of use. */
  isUseful(peer: PeerName): boolean {
    const now = this.#clock.monotonicMs()
    const record = this.#records.get(peer)
    return record !== undefined && record.delivered.at(now) > record.useless.at(now)
  }

  /** A message found no room, whoever brought it. */
  turnedAway(): void {
    const now = this.#clock.monotonicMs()
    this.#turnedAway.add(1, now)
    this.#lastTurnedAwayMs = now
  }

  /** What became of a message. */
  judged(peer: PeerName, topic: string, verdict: Verdict): void {
    const now = this.#clock.monotonicMs()
    this.#judged.add(1, now)
    const record = this.#recordOf(peer)
    if (verdict === 'accept') record.delivered.add(this.#values.topicWeights[topic] ?? 1, now)
    else record.useless.add(verdict === 'reject' ? REJECT_WEIGHT : IGNORE_WEIGHT, now)
  }

  #isOverloaded(nowMs: number): boolean {
    if (nowMs - this.#lastTurnedAwayMs > QUIET_MS) return false
    const turnedAway = this.#turnedAway.at(nowMs)
    return turnedAway > 0 && turnedAway >= this.#values.threshold * this.#judged.at(nowMs)
  }

  #recordOf(peer: PeerName): PeerRecord {
    let record = this.#records.get(peer)
    if (record === undefined) {
      const { sourceDecay } = this.#values
      record = {
        delivered: new Fading(this.#values, sourceDecay),
        useless: new Fading(this.#values, sourceDecay),
        credit: 1,
      }
      this.#records.set(peer, record)
    }
    return record
  }
}
