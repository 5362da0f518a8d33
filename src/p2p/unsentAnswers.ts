/** Answers are in memory until their peers have taken them: how large each may be, and whose ends where all are too much. */
import type { PeerName } from './peerLinks.ts'

/** A new answer may have a fourth of what is free: as many again find room, ever shorter ones. */
const SHARE_OF_FREE = 4

/** Bytes. */
export interface UnsentLimits {
  /** Of all answers. Above it the oldest of the peer that has most is ended, unless that is the one who comes. */
  readonly all: number
  /** Of an answer while there is room, and while there is little. */
  readonly longest: number
  readonly shortest: number
}

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
  readonly #limits: UnsentLimits
  /** Oldest first. */
  readonly #answers = new Set<Unsent>()
  #bytes = 0

  constructor(limits: UnsentLimits) {
    this.#limits = limits
  }

  /** @param giveWay - ends it, for answers to peers who have less in memory */
  begin(peer: PeerName, giveWay: () => void): UnsentAnswer {
    const { all, longest, shortest } = this.#limits
    const most = Math.max(shortest, Math.min(longest, Math.floor((all - this.#bytes) / SHARE_OF_FREE)))
    const unsent: Unsent = { peer, giveWay, bytes: 0 }
    this.#answers.add(unsent)
    this.#resize(unsent, most)
    return { most, is: (bytes) => this.#resize(unsent, bytes), end: () => this.#end(unsent) }
  }

  #resize(unsent: Unsent, bytes: number): void {
    if (!this.#answers.has(unsent)) return
    this.#bytes += bytes - unsent.bytes
    unsent.bytes = bytes
    while (this.#bytes > this.#limits.all) {
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
