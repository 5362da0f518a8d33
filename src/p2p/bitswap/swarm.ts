/** What the client knows of the peers that speak bitswap: who answered last, how fast, and what was asked of whom. */
import { Lru } from '../../base/lru.ts'
import type { Clock } from '../../base/ports.ts'
import type { PeerName } from '../peerLinks.ts'
import { MAX_HEDGE_MS, MAX_WANTS, MIN_HEDGE_MS } from './limits.ts'

/** Share of the newest answer in the moving average of times. */
const SHARE = 0.2
/** Others are asked after so many times the usual time. */
const PATIENCE = 3
/** CIDs asked of a peer that are remembered, so that a late answer is no flood. */
const REMEMBERED: number = 2 * MAX_WANTS

interface Known {
  /** When it last brought a block; undefined: never. */
  lastBlockMs: number | undefined
  averageMs: number | undefined
  /** By CID, when it was asked for last, and how many answers may come. */
  readonly asked: Lru<string, { readonly atMs: number; readonly times: number }>
}

/** See the file's comment. */
export class Swarm {
  readonly #clock: Clock
  readonly #known = new Map<PeerName, Known>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  #of(peer: PeerName): Known {
    let known = this.#known.get(peer)
    if (known === undefined) {
      known = { lastBlockMs: undefined, averageMs: undefined, asked: new Lru(REMEMBERED) }
      this.#known.set(peer, known)
    }
    return known
  }

  forget(peer: PeerName): void {
    this.#known.delete(peer)
  }

  /** Who answered last first; those who never did in the order given. */
  order(peers: readonly PeerName[]): PeerName[] {
    const last = (peer: PeerName): number => this.#known.get(peer)?.lastBlockMs ?? Number.NEGATIVE_INFINITY
    return [...peers].sort((a, b) => {
      const [x, y] = [last(a), last(b)]
      return x === y ? 0 : y - x
    })
  }

  /** Time after which others are asked too, milliseconds. */
  hedgeMs(peer: PeerName): number {
    const usual = this.#known.get(peer)?.averageMs
    if (usual === undefined) return MAX_HEDGE_MS
    return Math.min(MAX_HEDGE_MS, Math.max(MIN_HEDGE_MS, PATIENCE * usual))
  }

  asks(peer: PeerName, key: string): void {
    const { asked } = this.#of(peer)
    asked.set(key, { atMs: this.#clock.monotonicMs(), times: (asked.get(key)?.times ?? 0) + 1 })
  }

  /** The peer has not got it: nothing more is to come. */
  declined(peer: PeerName, key: string): void {
    this.#known.get(peer)?.asked.delete(key)
  }

  /**
   * A block came.
   * @param first - nobody brought it before: the peer is the one to ask next
   * @returns whether the peer had been asked for it
   */
  brought(peer: PeerName, key: string, first: boolean): boolean {
    const known = this.#of(peer)
    const since = known.asked.get(key)
    if (since === undefined) return false
    if (since.times === 1) known.asked.delete(key)
    else known.asked.set(key, { ...since, times: since.times - 1 })
    const now = this.#clock.monotonicMs()
    if (first) known.lastBlockMs = now
    const took = now - since.atMs
    known.averageMs = known.averageMs === undefined ? took : known.averageMs + (took - known.averageMs) * SHARE
    return true
  }
}
