import { Lru } from '../../base/lru.ts'
import type { Clock } from '../../base/ports.ts'
import type { PeerName } from '../peerLinks.ts'

/** A demerit counts half after so long, ms. */
const HALF_LIFE_MS = 5 * 60_000
/** Peers remembered, and the most that one of them can have. */
const PEERS = 4096
const MOST = 1000

/** What is held against peers without being proof: counted, and forgiven with time. */
export class Demerits {
  readonly #clock: Clock
  readonly #values = new Lru<PeerName, { readonly value: number; readonly atMs: number }>(PEERS)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(peer: PeerName): void {
    this.#values.set(peer, { value: Math.min(MOST, this.of(peer) + 1), atMs: this.#clock.monotonicMs() })
  }

  /** 0 and up. */
  of(peer: PeerName): number {
    const known = this.#values.get(peer)
    if (known === undefined) return 0
    return known.value * 0.5 ** ((this.#clock.monotonicMs() - known.atMs) / HALF_LIFE_MS)
  }
}
