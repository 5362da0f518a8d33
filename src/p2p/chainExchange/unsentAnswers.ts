/** Answers are in memory until their peers have taken them: how large each may be, and whose ends where all are too much. */
import type { PeerName } from '../peerLinks.ts'
import { MAX_SERVED_BYTES, MAX_UNSENT_BYTES, SHORT_ANSWER_BYTES } from './limits.ts'

/** A new answer may have a fourth of what is free: as many again find room, ever shorter ones. */
const SHARE_OF_FREE = 4

interface Unsent {
  readonly peer: PeerName
  readonly giveWay: () => void
  bytes: number
}

/** An answer from its making on. */
export interface UnsentAnswer {
  /** It may have so many bytes, its first tipset apart. */
  readonly most: number
  /** It has so many. */
  is(bytes: number): void
  end(): void
}

/** Of one server. */
export class UnsentAnswers {
  /** Oldest first. */
  readonly #answers = new Set<Unsent>()
  #bytes = 0

  /** @param giveWay - ends it, for answers to peers who have less in memory */
  begin(peer: PeerName, giveWay: () => void): UnsentAnswer {
    const share = Math.floor((MAX_UNSENT_BYTES - this.#bytes) / SHARE_OF_FREE)
    const most = Math.max(SHORT_ANSWER_BYTES, Math.min(MAX_SERVED_BYTES, share))
    const unsent: Unsent = { peer, giveWay, bytes: 0 }
    this.#answers.add(unsent)
    this.#resize(unsent, most)
    return { most, is: (bytes) => this.#resize(unsent, bytes), end: () => this.#end(unsent) }
  }

  #resize(unsent: Unsent, bytes: number): void {
    if (!this.#answers.has(unsent)) return
    this.#bytes += bytes - unsent.bytes
    unsent.bytes = bytes
    while (this.#bytes > MAX_UNSENT_BYTES) {
      const other = this.#largest(unsent.peer)
      if (other === undefined) return
      this.#end(other)
      other.giveWay()
    }
  }

  /** The oldest of the peer that has most; undefined: that is the peer itself. */
  #largest(peer: PeerName): Unsent | undefined {
    const byPeer = new Map<PeerName, number>()
    for (const unsent of this.#answers) byPeer.set(unsent.peer, (byPeer.get(unsent.peer) ?? 0) + unsent.bytes)
    let largest = peer
    for (const [other, bytes] of byPeer) if (bytes > (byPeer.get(largest) ?? 0)) largest = other
    if (largest === peer) return undefined
    for (const unsent of this.#answers) if (unsent.peer === largest) return unsent
    return undefined
  }

  #end(unsent: Unsent): void {
    if (this.#answers.delete(unsent)) this.#bytes -= unsent.bytes
  }
}
