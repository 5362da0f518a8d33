/**
 * Peers that are refused for a while. Proven misbehaviour bans at once, and for longer each time; what may be bad luck
 * (slow, cut off, unhelpful) must come often.
 */
import { fromUtf8, utf8 } from '../../base/bytes.ts'
import type { Clock, KeyValueStore } from '../../base/ports.ts'
import type { Misbehaviour, PeerName } from '../peerLinks.ts'

const MINUTE_MS = 60_000

/** How bans are given. */
export interface BanPolicy {
  /** First ban for proven misbehaviour, ms; doubled each time up to `longestMs`. */
  readonly provenMs: number
  readonly longestMs: number
  /** Unproven cases within `forgetMs` that make a ban of `unprovenMs`. */
  readonly unprovenLimit: number
  readonly unprovenMs: number
  /** After so long without a case the peer's record is clean, ms. */
  readonly forgetMs: number
  /** Records kept; the oldest are forgotten. */
  readonly limit: number
}

export const BAN_POLICY: BanPolicy = {
  provenMs: 60 * MINUTE_MS,
  longestMs: 24 * 60 * MINUTE_MS,
  unprovenLimit: 50,
  unprovenMs: 2 * MINUTE_MS,
  forgetMs: 10 * MINUTE_MS,
  limit: 4096,
}

const PREFIX = 'p2p/ban/'

interface BanRecord {
  /** Proven cases. */
  readonly proven: number
  readonly unproven: number
  readonly lastMs: number
  readonly untilMs: number
  readonly reason: string
}

/** A peer that is refused. */
export interface Ban {
  readonly peer: PeerName
  readonly untilMs: number
  readonly reason: string
}

/** The bans of a node, kept in its store. */
export class Bans {
  readonly #records = new Map<PeerName, BanRecord>()
  readonly #policy: BanPolicy
  readonly #clock: Clock
  readonly #store: KeyValueStore | undefined

  /** @param store - where bans outlive the process; without, they don't */
  constructor(clock: Clock, store?: KeyValueStore, policy: BanPolicy = BAN_POLICY) {
    this.#clock = clock
    this.#store = store
    this.#policy = policy
    if (store === undefined) return
    const now = clock.nowMs()
    for (const key of [...store.keys(utf8(PREFIX))]) {
      const record = parseRecord(store.get(key))
      if (record === undefined || record.untilMs + policy.longestMs < now) store.delete(key)
      else this.#records.set(fromUtf8(key).slice(PREFIX.length), record)
    }
  }

  /** @returns whether the peer is banned now */
  report(peer: PeerName, what: Misbehaviour): boolean {
    const now = this.#clock.nowMs()
    const { provenMs, longestMs, unprovenLimit, unprovenMs, forgetMs } = this.#policy
    const before = this.#records.get(peer)
    let proven = before?.proven ?? 0
    let unproven = before !== undefined && now - before.lastMs < forgetMs ? before.unproven : 0
    let untilMs = before?.untilMs ?? 0
    if (what.proven) {
      untilMs = Math.max(untilMs, now + Math.min(longestMs, provenMs * 2 ** proven))
      proven++
    } else if (++unproven >= unprovenLimit) {
      untilMs = Math.max(untilMs, now + unprovenMs)
      unproven = 0
    }
    this.#keep(peer, { proven, unproven, lastMs: now, untilMs, reason: what.reason })
    return untilMs > now
  }

  isBanned(peer: PeerName): boolean {
    const record = this.#records.get(peer)
    return record !== undefined && record.untilMs > this.#clock.nowMs()
  }

  /** Those refused now. */
  list(): Ban[] {
    const now = this.#clock.nowMs()
    const found: Ban[] = []
    for (const [peer, { untilMs, reason }] of this.#records) if (untilMs > now) found.push({ peer, untilMs, reason })
    return found
  }

  lift(peer: PeerName): void {
    this.#records.delete(peer)
    this.#store?.delete(utf8(PREFIX + peer))
  }

  #keep(peer: PeerName, record: BanRecord): void {
    this.#records.delete(peer)
    this.#records.set(peer, record)
    if (record.untilMs > 0) this.#store?.put(utf8(PREFIX + peer), utf8(JSON.stringify(record)))
    if (this.#records.size <= this.#policy.limit) return
    const oldest = this.#records.keys().next()
    if (oldest.done !== true) this.lift(oldest.value)
  }
}

function parseRecord(bytes: Uint8Array | undefined): BanRecord | undefined {
  if (bytes === undefined) return undefined
  try {
    const { proven, unproven, lastMs, untilMs, reason } = JSON.parse(fromUtf8(bytes)) as Record<string, unknown>
    if (typeof proven !== 'number' || typeof unproven !== 'number') return undefined
    if (typeof lastMs !== 'number' || typeof untilMs !== 'number' || typeof reason !== 'string') return undefined
    return { proven, unproven, lastMs, untilMs, reason }
  } catch {
    return undefined
  }
}
