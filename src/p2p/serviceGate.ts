import type { PeerName } from './peerLinks.ts'

/** Bounds of a {@link ServiceGate}. */
export interface GateLimits {
  readonly running: number
  /** Of one peer, running and waiting. */
  readonly perPeer: number
  readonly waiting: number
}

/** A turn that somebody has. */
interface Turn {
  readonly peer: PeerName
  readonly giveWay: (() => void) | undefined
}

/** How many requests are served at once; the others wait in a short queue, or are sent away. */
export class ServiceGate {
  readonly #limits: GateLimits
  readonly #byPeer = new Map<PeerName, number>()
  /** Oldest first. */
  readonly #running = new Set<Turn>()
  readonly #waiting: (() => void)[] = []

  constructor(limits: GateLimits) {
    this.#limits = limits
  }

  /** Requests running and waiting. */
  get size(): number {
    return this.#running.size + this.#waiting.length
  }

  /** Whether a peer has all that one may have; else it is turned away because of others. */
  hasShare(peer: PeerName): boolean {
    return this.#of(peer) >= this.#limits.perPeer
  }

  /**
   * Waits for a turn.
   * @param giveWay - ends what runs in it, when another needs the place; absent: whoever is in stays
   * @returns what gives it back, once; undefined at once when there is no room
   */
  async enter(peer: PeerName, giveWay?: () => void): Promise<(() => void) | undefined> {
    const isFull = (): boolean => this.#running.size >= this.#limits.running
    if (this.hasShare(peer)) return undefined
    if (isFull() && this.#waiting.length >= this.#limits.waiting && !this.makeRoom(peer)) return undefined
    this.#byPeer.set(peer, this.#of(peer) + 1)
    const turn = { peer, giveWay }
    if (isFull()) await new Promise<void>((resolve) => this.#waiting.push(() => resolve(this.#begin(turn))))
    else this.#begin(turn)
    return () => this.#leave(turn)
  }

  /**
   * Ends the oldest turn of the peer that has most, for the next in line.
   * @param peer - who needs a place: nobody with no more than it has gives way
   * @returns whether anybody did
   */
  makeRoom(peer: PeerName): boolean {
    const turns = new Map<PeerName, Turn[]>()
    for (const turn of this.#running) {
      if (turn.giveWay !== undefined) turns.set(turn.peer, [...(turns.get(turn.peer) ?? []), turn])
    }
    let most = turns.get(peer) ?? []
    for (const ofPeer of turns.values()) if (ofPeer.length > most.length) most = ofPeer
    const [oldest] = most
    if (oldest === undefined || oldest.peer === peer) return false
    this.#leave(oldest)
    oldest.giveWay?.()
    return true
  }

  #of(peer: PeerName): number {
    return this.#byPeer.get(peer) ?? 0
  }

  #begin(turn: Turn): void {
    this.#running.add(turn)
  }

  #leave(turn: Turn): void {
    // It may have given way before.
    if (!this.#running.delete(turn)) return
    const left = this.#of(turn.peer) - 1
    if (left === 0) this.#byPeer.delete(turn.peer)
    else this.#byPeer.set(turn.peer, left)
    // The place goes to the next in line without becoming free in between.
    this.#waiting.shift()?.()
  }
}
