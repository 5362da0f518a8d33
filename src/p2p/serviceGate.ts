import type { PeerName } from './peerLinks.ts'

/** Bounds of a {@link ServiceGate}. */
export interface GateLimits {
  readonly running: number
  /** Of one peer, running and waiting. */
  readonly perPeer: number
  /** Of one peer, running; its others wait, though there may be room. Default: as many as there may be. */
  readonly runningPerPeer?: number
  readonly waiting: number
}

/** A turn that somebody has. */
interface Turn {
  readonly peer: PeerName
  readonly giveWay: (() => void) | undefined
}

/** Who waits for a turn. */
interface Waiting {
  readonly peer: PeerName
  readonly begin: () => void
}

/** How many requests are served at once; the others wait in a queue, or are sent away. */
export class ServiceGate {
  readonly #limits: GateLimits
  readonly #byPeer = new Map<PeerName, number>()
  /** Oldest first. */
  readonly #running = new Set<Turn>()
  /** Longest first. */
  readonly #waiting: Waiting[] = []

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
    const mustWait = (): boolean => this.#running.size >= this.#limits.running || !this.#mayRun(peer)
    if (this.hasShare(peer)) return undefined
    if (mustWait() && this.#waiting.length >= this.#limits.waiting && !this.makeRoom(peer)) return undefined
    this.#byPeer.set(peer, this.#of(peer) + 1)
    const turn = { peer, giveWay }
    if (mustWait()) {
      await new Promise<void>((resolve) => this.#waiting.push({ peer, begin: () => resolve(this.#begin(turn)) }))
    } else this.#begin(turn)
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
    const next = this.#waiting.findIndex(({ peer }) => this.#mayRun(peer))
    if (next >= 0) this.#waiting.splice(next, 1)[0]?.begin()
  }

  #mayRun(peer: PeerName): boolean {
    const { runningPerPeer } = this.#limits
    if (runningPerPeer === undefined) return true
    let running = 0
    for (const turn of this.#running) if (turn.peer === peer) running++
    return running < runningPerPeer
  }
}
