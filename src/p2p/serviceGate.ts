import type { Timers } from '../base/ports.ts'
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
  /** In {@link TurnPatience.lookMs}, of which those count in which somebody waited. */
  begunAt: number
}

/** How long turns may keep others waiting. */
export interface TurnPatience {
  /** So often one of them may end, milliseconds. */
  readonly lookMs: number
  /** When it has kept others waiting for so many of these. */
  readonly keptLooks: number
}

/** Who waits for a turn. */
interface Waiting {
  readonly peer: PeerName
  readonly begin: () => void
}

/** How many requests are served at once; the others wait, and who has fewest under way goes first, or are sent away. */
export class ServiceGate {
  readonly #limits: GateLimits
  readonly #byPeer = new Map<PeerName, number>()
  /** Oldest first. */
  readonly #running = new Set<Turn>()
  readonly #runningByPeer = new Map<PeerName, number>()
  /** When each peer last began a turn, in turns; of those that have a share. */
  readonly #lastTurns = new Map<PeerName, number>()
  #turns = 0
  #isWatched = false
  #looks = 0
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
  enter(peer: PeerName, giveWay?: () => void): Promise<(() => void) | undefined> {
    return this.#enter(peer, giveWay, () => this.makeRoom(peer))
  }

  async #enter(
    peer: PeerName,
    giveWay: (() => void) | undefined,
    makeRoom: () => boolean,
  ): Promise<(() => void) | undefined> {
    const mustWait = (): boolean => this.#running.size >= this.#limits.running || !this.#mayRun(peer)
    if (this.hasShare(peer)) return undefined
    if (mustWait() && this.#waiting.length >= this.#limits.waiting && !makeRoom()) return undefined
    this.#byPeer.set(peer, this.#of(peer) + 1)
    const turn = { peer, giveWay, begunAt: 0 }
    if (mustWait()) {
      await new Promise<void>((resolve) => this.#waiting.push({ peer, begin: () => resolve(this.#begin(turn)) }))
    } else this.#begin(turn)
    return () => this.#leave(turn)
  }

  /**
   * Like {@link enter}, but only a turn that has long kept others waiting gives way. While some wait, now and then one of those does for the
   * one who is next: those who take their answers slowly would keep all places to themselves. No more than that: what is begun anew
   * costs, too.
   */
  enterPatiently(
    peer: PeerName,
    giveWay: () => void,
    patience: TurnPatience & { readonly timers: Timers },
  ): Promise<(() => void) | undefined> {
    const turn = this.#enter(peer, giveWay, () => this.#makeSlowRoom(peer, patience))
    this.#watch(patience)
    return turn
  }

  #watch(patience: TurnPatience & { readonly timers: Timers }): void {
    if (this.#isWatched || this.#waiting.length === 0) return
    this.#isWatched = true
    patience.timers.setTimeout(() => {
      this.#isWatched = false
      this.#looks++
      const next = this.#waiting[this.#next()]
      if (next !== undefined) this.#makeSlowRoom(next.peer, patience)
      this.#watch(patience)
    }, patience.lookMs)
  }

  /** Who has none is served at somebody's cost, who has some where another has two more. */
  #makeSlowRoom(peer: PeerName, { keptLooks }: TurnPatience): boolean {
    const slow = [...this.#running].filter(({ begunAt }) => this.#looks - begunAt >= keptLooks)
    const own = this.#runningOf(peer)
    const most = Math.max(0, ...slow.map((turn) => this.#runningOf(turn.peer)))
    return (own === 0 || most >= own + 2) && this.makeRoom(peer, slow)
  }

  /**
   * Ends the oldest turn of the peer that has most, for the next in line.
   * @param peer - who needs a place: nobody with no more than it has gives way
   * @param among - of these alone
   * @returns whether anybody did
   */
  makeRoom(peer: PeerName, among: Iterable<Turn> = this.#running): boolean {
    const turns = new Map<PeerName, Turn[]>()
    for (const turn of among) {
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
    turn.begunAt = this.#looks
    this.#running.add(turn)
    this.#runningByPeer.set(turn.peer, this.#runningOf(turn.peer) + 1)
    this.#lastTurns.set(turn.peer, ++this.#turns)
  }

  #runningOf(peer: PeerName): number {
    return this.#runningByPeer.get(peer) ?? 0
  }

  #leave(turn: Turn): void {
    // It may have given way before.
    if (!this.#running.delete(turn)) return
    for (const counts of [this.#byPeer, this.#runningByPeer]) {
      const left = (counts.get(turn.peer) ?? 0) - 1
      if (left === 0) counts.delete(turn.peer)
      else counts.set(turn.peer, left)
    }
    if (!this.#byPeer.has(turn.peer)) this.#lastTurns.delete(turn.peer)
    // The place goes to the next in line without becoming free in between.
    const next = this.#next()
    if (next >= 0) this.#waiting.splice(next, 1)[0]?.begin()
  }

  /** Of those who may run one whose peer has fewest turns and had its last longest ago, the longest waiting; -1: there is none. */
  #next(): number {
    let best = -1
    let [fewest, oldest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const [i, { peer }] of this.#waiting.entries()) {
      const running = this.#runningOf(peer)
      const last = this.#lastTurns.get(peer) ?? 0
      if (running > fewest || (running === fewest && last >= oldest) || !this.#mayRun(peer)) continue
      best = i
      fewest = running
      oldest = last
    }
    return best
  }

  #mayRun(peer: PeerName): boolean {
    const { runningPerPeer } = this.#limits
    return runningPerPeer === undefined || this.#runningOf(peer) < runningPerPeer
  }
}
