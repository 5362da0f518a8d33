import type { Clock } from '../../base/ports.ts'
import type { PeerName } from '../peerLinks.ts'
import { MAX_HEDGE_MS, MAX_REMEMBERED_ASKS, MIN_HEDGE_MS, MUTE_MS } from './limits.ts'

/** Share of the newest answer in the moving average of times. */
const SHARE = 0.2
/** Others are asked after so many times the usual time. */
const PATIENCE = 3
/** Share of what was asked of a peer that is forgotten at a time. */
const FORGOTTEN_SHARE = 8
/** A block is expected of whoever was asked for it so long ago or less, milliseconds. */
const EXPECTED_MS = 10 * 60_000
/** What is expected no more goes with what is asked next: so many at a time, which is more than come. */
const EXPIRED_PER_ASK = 16

interface Known {
  /** When it last brought a block; undefined: never. */
  lastBlockMs: number | undefined
  averageMs: number | undefined
  /** When it was first asked. */
  firstAskMs: number | undefined
  /** Whether it ever said anything. */
  speaks: boolean
  /** By CID, when it was asked for last; what was asked longest ago first. */
  readonly asked: Map<string, number>
}

/** What the client knows of the peers that speak bitswap: who answered last, how fast, and what was asked of whom. */
export class Swarm {
  readonly #clock: Clock
  readonly #known = new Map<PeerName, Known>()
  /** What is remembered of all peers together: a block of messages that nobody has is asked of every one. */
  #asks = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  #of(peer: PeerName): Known {
    let known = this.#known.get(peer)
    if (known === undefined) {
      known = {
        lastBlockMs: undefined,
        averageMs: undefined,
        firstAskMs: undefined,
        speaks: false,
        asked: new Map(),
      }
      this.#known.set(peer, known)
    }
    return known
  }

  forget(peer: PeerName): void {
    this.#asks -= this.#known.get(peer)?.asked.size ?? 0
    this.#known.delete(peer)
  }

  /** CIDs that are remembered, each as often as it was asked of a peer. */
  get remembered(): number {
    return this.#asks
  }

  /** Who answered last first; those who never did in the order given, of them those last who never say anything. */
  order(peers: readonly PeerName[]): PeerName[] {
    const last = (peer: PeerName): number => this.#known.get(peer)?.lastBlockMs ?? (this.isMute(peer) ? -2 : -1)
    return [...peers].sort((a, b) => last(b) - last(a))
  }

  /** It said something: a block, or whether it has one. */
  spoke(peer: PeerName): void {
    this.#of(peer).speaks = true
  }

  /** Whether it has been asked for long, and has never said anything. */
  isMute(peer: PeerName): boolean {
    const known = this.#known.get(peer)
    if (known?.firstAskMs === undefined || known.speaks) return false
    return this.#clock.monotonicMs() - known.firstAskMs >= MUTE_MS
  }

  /** Time after which others are asked too, milliseconds. */
  hedgeMs(peer: PeerName): number {
    const usual = this.#known.get(peer)?.averageMs
    if (usual === undefined) return MAX_HEDGE_MS
    return Math.min(MAX_HEDGE_MS, Math.max(MIN_HEDGE_MS, PATIENCE * usual))
  }

  asks(peer: PeerName, key: string): void {
    const known = this.#of(peer)
    const { asked } = known
    const now = this.#clock.monotonicMs()
    known.firstAskMs ??= now
    this.#asks -= asked.size
    asked.delete(key)
    let left = EXPIRED_PER_ASK
    for (const [oldest, since] of asked) {
      if (now - since <= EXPECTED_MS || left-- === 0) break
      asked.delete(oldest)
    }
    asked.set(key, now)
    this.#asks += asked.size
    if (this.#asks > MAX_REMEMBERED_ASKS) this.#makeRoom()
  }

  /** Of the peer that was asked most, what was asked longest ago: others' late answers are no flood for that. */
  #makeRoom(): void {
    let most: Known | undefined
    for (const known of this.#known.values()) if (known.asked.size > (most?.asked.size ?? 0)) most = known
    if (most === undefined) return
    let left = Math.ceil(most.asked.size / FORGOTTEN_SHARE)
    this.#asks -= left
    for (const key of most.asked.keys()) {
      if (left-- === 0) break
      most.asked.delete(key)
    }
  }

  /**
   * A block came.
   * @param first - nobody brought it before: the peer is the one to ask next
   * @returns whether it was to be expected. What was asked for stays so for a while, whatever was said since: who said
   *   that it has it not remembers the want and sends the block when it comes by it, a cancellation may cross it, and
   *   each time of asking may be answered (boxo decision engine, NotifyNewBlocks)
   */
  brought(peer: PeerName, key: string, first: boolean): boolean {
    const known = this.#of(peer)
    const since = known.asked.get(key)
    const now = this.#clock.monotonicMs()
    if (since === undefined || now - since > EXPECTED_MS) return false
    if (!first) return true
    known.lastBlockMs = now
    const took = now - since
    known.averageMs = known.averageMs === undefined ? took : known.averageMs + (took - known.averageMs) * SHARE
    return true
  }
}
