import type { PeerName } from './peerLinks.ts'

/** Bounds of a {@link ServiceGate}. */
export interface GateLimits {
  readonly running: number
  /** Of one peer, running and waiting. */
  readonly perPeer: number
  readonly waiting: number
}

/** How many requests are served at once; the others wait in a short queue, or are sent away. */
export class ServiceGate {
  readonly #limits: GateLimits
  readonly #byPeer = new Map<PeerName, number>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limits: GateLimits) {
    this.#limits = limits
  }

  /** Requests running and waiting. */
  get size(): number {
    return this.#running + this.#waiting.length
  }

  /**
   * Waits for a turn.
   * @returns what gives it back, once; undefined at once when there is no room
   */
  async enter(peer: PeerName): Promise<(() => void) | undefined> {
    const ofPeer = this.#byPeer.get(peer) ?? 0
    const full = this.#running >= this.#limits.running
    if (ofPeer >= this.#limits.perPeer || (full && this.#waiting.length >= this.#limits.waiting)) return undefined
    this.#byPeer.set(peer, ofPeer + 1)
    if (full) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    return () => this.#leave(peer)
  }

  #leave(peer: PeerName): void {
    const left = (this.#byPeer.get(peer) ?? 1) - 1
    if (left === 0) this.#byPeer.delete(peer)
    else this.#byPeer.set(peer, left)
    // The place goes to the next in line without becoming free in between.
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next()
  }
}
