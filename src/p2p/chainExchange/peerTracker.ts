/**
 * Which peer is asked first: by what an answer costs, with some chance for the others.
 * @see lotus chain/exchange/peer_tracker.go bsPeerTracker; client.go shufflePrefix
 */
import { Lru } from '../../base/lru.ts'
import type { Clock, Random } from '../../base/ports.ts'
import type { PeerName } from '../peerLinks.ts'
import { MAX_TRACKED_PEERS } from './limits.ts'

/** How much better than the mean a new peer is taken to be. */
const NEW_PEER_FACTOR = 0.9
/** Moving averages: the share of the newest value. */
const LOCAL_SHARE = 1 / 10
const GLOBAL_SHARE = 1 / 25
/** The best ones, among which chance decides. */
const SHUFFLED_PREFIX = 16
/** A peer that failed goes to the end: for so long, twice as long after each further failure, milliseconds. */
const COOL_DOWN_MS = 5000
const MAX_COOL_DOWN_MS = 600_000

interface Stats {
  readonly successes: number
  readonly failures: number
  /** Failures since the last success. */
  readonly failuresInRow: number
  readonly averageMs: number | undefined
  readonly coolUntilMs: number
}

const UNKNOWN: Stats = { successes: 0, failures: 0, failuresInRow: 0, averageMs: undefined, coolUntilMs: 0 }

/** What peers' answers took and how often they failed, and the order that follows from it. */
export class PeerTracker {
  readonly #clock: Clock
  readonly #random: Random
  readonly #stats = new Lru<PeerName, Stats>(MAX_TRACKED_PEERS)
  #globalMs: number | undefined

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  /** The candidates, in the order in which they are to be asked. */
  order(candidates: readonly PeerName[], prefer?: PeerName): PeerName[] {
    const now = this.#clock.monotonicMs()
    const rated = candidates.map((peer) => {
      const stats = this.#stats.get(peer) ?? UNKNOWN
      return { peer, cool: stats.coolUntilMs > now ? stats.coolUntilMs : 0, cost: this.#cost(stats) }
    })
    rated.sort((a, b) => a.cool - b.cool || a.cost - b.cost)
    const ready = rated.filter((entry) => entry.cool === 0).map((entry) => entry.peer)
    const cooling = rated.filter((entry) => entry.cool !== 0).map((entry) => entry.peer)
    const order = [...this.#shuffled(ready.slice(0, SHUFFLED_PREFIX)), ...ready.slice(SHUFFLED_PREFIX), ...cooling]
    if (prefer === undefined || !order.includes(prefer)) return order
    return [prefer, ...order.filter((peer) => peer !== prefer)]
  }

  #cost(stats: Stats): number {
    const globalMs = this.#globalMs ?? 0
    const asked = stats.successes + stats.failures
    if (asked === 0) return globalMs * NEW_PEER_FACTOR
    return (stats.averageMs ?? 0) + (stats.failures / asked) * globalMs
  }

  #shuffled(peers: PeerName[]): PeerName[] {
    const bytes = new Uint8Array(peers.length)
    this.#random.fill(bytes)
    for (let i = peers.length - 1; i > 0; i--) {
      const j = (bytes[i] as number) % (i + 1)
      const kept = peers[i] as PeerName
      peers[i] = peers[j] as PeerName
      peers[j] = kept
    }
    return peers
  }

  /** @param tipsets - that were answered */
  succeeded(peer: PeerName, ms: number, tipsets: number): void {
    const stats = this.#stats.get(peer) ?? UNKNOWN
    const averageMs = average(stats.averageMs, ms / Math.max(1, tipsets), LOCAL_SHARE)
    this.#stats.set(peer, { ...stats, successes: stats.successes + 1, failuresInRow: 0, averageMs, coolUntilMs: 0 })
    this.#globalMs = average(this.#globalMs, ms, GLOBAL_SHARE)
  }

  /** It answered, but has not what was asked: nobody may have. It costs, but it is asked again without a pause. */
  hadNothing(peer: PeerName, ms: number, tipsets: number): void {
    const stats = this.#stats.get(peer) ?? UNKNOWN
    const averageMs = average(stats.averageMs, ms / Math.max(1, tipsets), LOCAL_SHARE)
    this.#stats.set(peer, { ...stats, failures: stats.failures + 1, averageMs })
  }

  /** @param tipsets - that were asked for */
  failed(peer: PeerName, ms: number, tipsets: number): void {
    const stats = this.#stats.get(peer) ?? UNKNOWN
    const failuresInRow = stats.failuresInRow + 1
    this.#stats.set(peer, {
      successes: stats.successes,
      failures: stats.failures + 1,
      failuresInRow,
      averageMs: average(stats.averageMs, ms / Math.max(1, tipsets), LOCAL_SHARE),
      coolUntilMs: this.#clock.monotonicMs() + Math.min(MAX_COOL_DOWN_MS, COOL_DOWN_MS * 2 ** (failuresInRow - 1)),
    })
  }
}

function average(before: number | undefined, value: number, share: number): number {
  return before === undefined ? value : before + (value - before) * share
}
