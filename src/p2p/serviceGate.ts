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
  readonly turnAway: () => void
}

/** A turn in which something is made that is sent then. */
export interface MakingTurn {
  /** It is made: the place is another's, the peer's share stays taken. */
  made(): void
  /** It is sent, or nobody wants it. */
  leave(): void
}

/** How many requests are served at once; the others wait, and who has fewest under way goes first, or are sent away. */
export class ServiceGate {
  readonly #limits: GateLimits
  readonly #byPeer = new Map<PeerName, number>()
  /** Oldest first. */
  readonly #running = new Set<Turn>()
  /** What was made in them is being sent. */
  readonly #sending = new Set<Turn>()
  /** Those that are being sent included. */
  readonly #runningByPeer = new Map<PeerName, number>()
  /** When each peer last began a turn, in turns; of those that have a share. */
  readonly #lastTurns = new Map<PeerName, number>()
  #turns = 0
  /** Longest first. */
  readonly #waiting: Waiting[] = []

  constructor(limits: GateLimits) {
    this.#limits = limits
  }

  /** Requests running, being sent and waiting. */
  get size(): number {
    return this.#running.size + this.#sending.size + this.#waiting.length
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
    const turn = { peer, giveWay }
    return (await this.#begun(turn, () => this.makeRoom(peer))) ? () => this.#leave(turn) : undefined
  }

  /** @returns whether it has begun; else it is turned away */
  async #begun(turn: Turn, makeRoom: () => boolean): Promise<boolean> {
    const { peer } = turn
    const mustWait = (): boolean => this.#running.size >= this.#limits.running || !this.#mayRun(peer)
    if (this.hasShare(peer)) return false
    if (mustWait() && this.#waiting.length >= this.#limits.waiting && !makeRoom()) return false
    this.#byPeer.set(peer, this.#of(peer) + 1)
    if (mustWait()) {
      return new Promise<boolean>((resolve) => {
        const begin = (): void => {
          this.#begin(turn)
          resolve(true)
        }
        const turnAway = (): void => {
          this.#count(this.#byPeer, peer, -1)
          resolve(false)
        }
        this.#waiting.push({ peer, begin, turnAway })
      })
    }
    this.#begin(turn)
    return true
  }

  /**
   * Like {@link enter}, for what is made in memory and then sent: its peer may take it slowly, and keeps no place by that. When too many
   * wait, the last of the peer that has most waiting is turned away for one of a peer that has fewer.
   */
  async enterToMake(peer: PeerName): Promise<MakingTurn | undefined> {
    const turn = { peer, giveWay: undefined }
    if (!(await this.#begun(turn, () => this.#displace(peer)))) return undefined
    return { made: () => this.#made(turn), leave: () => this.#leave(turn) }
  }

  /** Whether requests of other peers wait for a place alone. */
  othersWait(peer: PeerName): boolean {
    return this.#waiting.some((waiting) => waiting.peer !== peer && this.#mayRun(waiting.peer))
  }

  #displace(peer: PeerName): boolean {
    const waiting = new Map<PeerName, number>()
    for (const { peer: other } of this.#waiting) this.#count(waiting, other, 1)
    let crowd: PeerName | undefined
    let most = (waiting.get(peer) ?? 0) + 1
    for (const [other, count] of waiting) {
      if (count <= most) continue
      crowd = other
      most = count
    }
    const at = this.#waiting.findLastIndex((other) => other.peer === crowd)
    this.#waiting.splice(at, at < 0 ? 0 : 1)[0]?.turnAway()
    return at >= 0
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

  #count(counts: Map<PeerName, number>, peer: PeerName, by: number): void {
    const total = (counts.get(peer) ?? 0) + by
    if (total === 0) counts.delete(peer)
    else counts.set(peer, total)
  }

  #begin(turn: Turn): void {
    this.#running.add(turn)
    this.#count(this.#runningByPeer, turn.peer, 1)
    this.#lastTurns.set(turn.peer, ++this.#turns)
  }

  #runningOf(peer: PeerName): number {
    return this.#runningByPeer.get(peer) ?? 0
  }

  #made(turn: Turn): void {
    if (!this.#running.delete(turn)) return
    this.#sending.add(turn)
    this.#fill()
  }

  #leave(turn: Turn): void {
    // It may have given way before.
    if (!this.#running.delete(turn) && !this.#sending.delete(turn)) return
    this.#count(this.#byPeer, turn.peer, -1)
    this.#count(this.#runningByPeer, turn.peer, -1)
    if (!this.#byPeer.has(turn.peer)) this.#lastTurns.delete(turn.peer)
    this.#fill()
  }

  /** A place goes to the next in line without becoming free in between. */
  #fill(): void {
    while (this.#running.size < this.#limits.running) {
      const next = this.#next()
      if (next < 0) return
      this.#waiting.splice(next, 1)[0]?.begin()
    }
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
