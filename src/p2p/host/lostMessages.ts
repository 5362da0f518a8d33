/**
 * Messages of ours that went to peers who have all left since. A line that dies without a word swallows what is written to it until a
 * ping is missed, a minute later, and gossipsub holds that for sent: it would not be published again for two minutes. A peer that did
 * hear it and left as it should hears it once more; that costs nothing.
 */
import type { Clock } from '../../base/ports.ts'
import { MAX_WATCHED_MESSAGES, WATCHED_MS } from '../gossip/limits.ts'
import type { PeerName } from '../peerLinks.ts'
import { around } from './around.ts'
import type { Router } from './router.ts'

interface Sent {
  readonly sinceMs: number
  /** Who got it and is still there. */
  readonly present: Set<PeerName>
  readonly onLost: () => void
}

/** The part of gossipsub's class that its types keep private. */
interface Leaving {
  removePeer(peer: { toString(): string }): void
}

/** Watches whom messages were sent to. */
export class LostMessages {
  readonly #clock: Clock
  readonly #seen: Router['seenCache']
  /** By their IDs, the oldest first. */
  readonly #sent = new Map<string, Sent>()

  /** @throws P2pError `NOT_SUPPORTED` */
  constructor(router: Router, clock: Clock) {
    this.#clock = clock
    this.#seen = router.seenCache
    around(router as unknown as Leaving, 'removePeer', (remove) => (peer) => {
      remove(peer)
      this.#left(peer.toString())
    })
  }

  /** How many are watched. */
  get size(): number {
    return this.#sent.size
  }

  /** @param onLost - called once, where all of them have left within {@link WATCHED_MS}: it can be published again */
  watch(id: string, recipients: readonly PeerName[], onLost: () => void): void {
    const nowMs = this.#clock.monotonicMs()
    this.#sent.delete(id)
    this.#sent.set(id, { sinceMs: nowMs, present: new Set(recipients), onLost })
    for (const [oldest, { sinceMs }] of this.#sent) {
      if (nowMs - sinceMs < WATCHED_MS && this.#sent.size <= MAX_WATCHED_MESSAGES) return
      this.#sent.delete(oldest)
    }
  }

  #left(peer: PeerName): void {
    const nowMs = this.#clock.monotonicMs()
    const lost: (() => void)[] = []
    for (const [id, { sinceMs, present, onLost }] of this.#sent) {
      present.delete(peer)
      if (present.size > 0) continue
      this.#sent.delete(id)
      if (nowMs - sinceMs >= WATCHED_MS) continue
      this.#seen.entries.delete(id)
      lost.push(onLost)
    }
    for (const tell of lost) tell()
  }
}
