/** Peers that are refused for a while, longer each time. What bans is for `faults.ts` to say. */

import { fromUtf8, utf8 } from '../../base/bytes.ts'
import { errorMessage, PetrelError, unlessThrown } from '../../base/errors.ts'
import type { Clock, KeyValueStore, Logger } from '../../base/ports.ts'
import { parseJson } from '../../codec/jsonText.ts'
import { type Fault, isFault } from '../faults.ts'
import type { Misbehaviour, PeerName } from '../peerLinks.ts'

const MINUTE_MS = 60_000

/** How bans are given. */
export interface BanPolicy {
  /** First ban, ms; doubled each time up to `longestMs`. */
  readonly firstMs: number
  readonly longestMs: number
  /** Records kept; the oldest are forgotten. */
  readonly limit: number
}

/** First an hour, then twice as long each time, up to a day. */
export const BAN_POLICY: BanPolicy = {
  firstMs: 60 * MINUTE_MS,
  longestMs: 24 * 60 * MINUTE_MS,
  limit: 4096,
}

const PREFIX = 'p2p/ban/'

interface BanRecord extends Misbehaviour {
  /** Bans so far. */
  readonly times: number
  readonly untilMs: number
}

/** A peer that is refused. */
export interface Ban {
  readonly peer: PeerName
  readonly untilMs: number
  readonly reason: string
}

/** Who is of another chain can never be of use. */
const NEVER_OF_USE: Fault = 'OTHER_GENESIS'

/** The bans of a node, kept in its store. */
export class Bans {
  readonly #records = new Map<PeerName, BanRecord>()
  readonly #policy: BanPolicy
  readonly #clock: Clock
  readonly #store: KeyValueStore | undefined
  readonly #log: Logger | undefined

  /**
   * @param store - where bans outlive the process; without, they don't
   * @param log - hears of bans that the store does not take: on a full disk they are kept in memory
   */
  constructor(clock: Clock, store?: KeyValueStore, policy: BanPolicy = BAN_POLICY, log?: Logger) {
    this.#clock = clock
    this.#store = store
    this.#policy = policy
    this.#log = log
    if (store === undefined) return
    const now = clock.nowMs()
    for (const key of [...store.keys(utf8(PREFIX))]) {
      const record = parseRecord(store.get(key))
      if (record === undefined || record.untilMs + policy.longestMs < now) this.#write(() => store.delete(key))
      else this.#records.set(fromUtf8(key).slice(PREFIX.length), record)
    }
  }

  /** Refuses a peer from now on. */
  ban(peer: PeerName, { fault, reason }: Misbehaviour): void {
    const now = this.#clock.nowMs()
    const { firstMs, longestMs } = this.#policy
    const before = this.#record(peer, now)
    const times = before?.times ?? 0
    const untilMs = Math.max(before?.untilMs ?? 0, now + Math.min(longestMs, firstMs * 2 ** times))
    this.#keep(peer, { times: times + 1, untilMs, fault, reason })
  }

  isBanned(peer: PeerName): boolean {
    const now = this.#clock.nowMs()
    const record = this.#record(peer, now)
    return record !== undefined && record.untilMs > now
  }

  /** Those refused now. */
  list(): Ban[] {
    const now = this.#clock.nowMs()
    const found: Ban[] = []
    for (const peer of [...this.#records.keys()]) {
      const { untilMs, reason } = this.#record(peer, now) as BanRecord
      if (untilMs > now) found.push({ peer, untilMs, reason })
    }
    return found
  }

  /** Those refused now that might be better than nobody: banned least often first, then whose ban ends first. */
  leastBad(): Ban[] {
    const record = (ban: Ban): BanRecord => this.#records.get(ban.peer) as BanRecord
    return this.list()
      .filter((ban) => record(ban).fault !== NEVER_OF_USE)
      .sort((a, b) => record(a).times - record(b).times || a.untilMs - b.untilMs)
  }

  /** Ends a ban; the next one is longer all the same. */
  pardon(peer: PeerName): void {
    const record = this.#records.get(peer)
    if (record !== undefined) this.#keep(peer, { ...record, untilMs: this.#clock.nowMs() })
  }

  /** Forgets all about a peer. */
  lift(peer: PeerName): void {
    this.#records.delete(peer)
    this.#write(() => this.#store?.delete(utf8(PREFIX + peer)))
  }

  /** A ban that was given while the clock was ahead ends as late as one that is given now. */
  #record(peer: PeerName, now: number): BanRecord | undefined {
    const record = this.#records.get(peer)
    const latest = now + this.#policy.longestMs
    if (record === undefined || record.untilMs <= latest) return record
    const limited = { ...record, untilMs: latest }
    this.#keep(peer, limited)
    return limited
  }

  #write(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#log?.warn('cannot write down the bans', { reason: errorMessage(error) })
    }
  }

  #keep(peer: PeerName, record: BanRecord): void {
    this.#records.delete(peer)
    this.#records.set(peer, record)
    this.#write(() => this.#store?.put(utf8(PREFIX + peer), utf8(JSON.stringify(record))))
    if (this.#records.size <= this.#policy.limit) return
    const oldest = this.#records.keys().next()
    if (oldest.done !== true) this.lift(oldest.value)
  }
}

function parseRecord(bytes: Uint8Array | undefined): BanRecord | undefined {
  if (bytes === undefined) return undefined
  const record = unlessThrown(() => parseJson(fromUtf8(bytes)), PetrelError)
  if (record === undefined || record === null || typeof record !== 'object' || Array.isArray(record)) return undefined
  const { times, untilMs, fault, reason } = record
  if (typeof times !== 'number' || typeof untilMs !== 'number') return undefined
  if (typeof fault !== 'string' || !isFault(fault) || typeof reason !== 'string') return undefined
  return { times, untilMs, fault, reason }
}
