/** Wants that could not be met, for a while: what comes in then is sent without being asked for again. */
import type { Clock } from '../../base/ports.ts'
import type { Cid } from '../../codec/cid.ts'
import type { PeerName } from '../peerLinks.ts'
import { MAX_REMEMBERED_OF_ALL, MAX_REMEMBERED_WANTS, MIN_REMEMBERED_WANTS, REMEMBERED_MS } from './limits.ts'
import type { Want } from './messages.ts'

interface Unmet {
  readonly want: Want
  readonly untilMs: number
}

/** What each peer still waits for. @see ipfs/boxo bitswap/server/internal/decision peer_ledger.go */
export class UnmetWants {
  readonly #clock: Clock
  /** By CID, oldest first. */
  readonly #byPeer = new Map<PeerName, Map<string, Unmet>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Of all peers. */
  get size(): number {
    let count = 0
    for (const ofPeer of this.#byPeer.values()) count += ofPeer.size
    return count
  }

  /** What is waited for, each once, of each peer the newest first; as many as are remembered of one peer. */
  cids(): Cid[] {
    const found = new Map<string, Cid>()
    for (const ofPeer of this.#byPeer.values()) {
      for (const { want } of [...ofPeer.values()].reverse()) {
        if (found.size === MAX_REMEMBERED_WANTS) return [...found.values()]
        found.set(want.cid.key, want.cid)
      }
    }
    return [...found.values()]
  }

  /** Remembers wants, in place of the peer's oldest where there is no room. */
  add(peer: PeerName, wants: readonly Want[]): void {
    if (wants.length === 0) return
    const ofPeer = this.#byPeer.get(peer) ?? new Map<string, Unmet>()
    this.#byPeer.set(peer, ofPeer)
    const untilMs = this.#clock.monotonicMs() + REMEMBERED_MS
    const others = this.size - ofPeer.size
    const room = Math.max(MIN_REMEMBERED_WANTS, Math.min(MAX_REMEMBERED_WANTS, MAX_REMEMBERED_OF_ALL - others))
    for (const want of wants) {
      ofPeer.delete(want.cid.key)
      ofPeer.set(want.cid.key, { want, untilMs })
    }
    for (const key of ofPeer.keys()) {
      if (ofPeer.size <= room) break
      ofPeer.delete(key)
    }
  }

  /** A peer wants it no longer, or says it anew. */
  delete(peer: PeerName, cid: Cid): void {
    const ofPeer = this.#byPeer.get(peer)
    if (ofPeer?.delete(cid.key) === true && ofPeer.size === 0) this.#byPeer.delete(peer)
  }

  forget(peer: PeerName): void {
    this.#byPeer.delete(peer)
  }

  /** Takes out who waits for one of these. */
  take(cids: readonly Cid[]): Map<PeerName, Want[]> {
    const keys = new Set(cids.map(({ key }) => key))
    const now = this.#clock.monotonicMs()
    const taken = new Map<PeerName, Want[]>()
    for (const [peer, ofPeer] of this.#byPeer) {
      const wants: Want[] = []
      for (const [key, { want, untilMs }] of ofPeer) {
        const isLate = untilMs < now
        if (!isLate && !keys.has(key)) continue
        ofPeer.delete(key)
        if (!isLate) wants.push(want)
      }
      if (ofPeer.size === 0) this.#byPeer.delete(peer)
      if (wants.length > 0) taken.set(peer, wants)
    }
    return taken
  }
}
