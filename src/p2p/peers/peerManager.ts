/**
 * Keeps the node among peers of its network: with too few it dials those it knows, with none the bootstrap peers, and
 * asks the DHT for more. When nobody is left it tries the best of those that it turned away. Peers that came by themselves
 * and were of no use yet do not count: anybody can come under any number of names, and would keep the node from all others.
 * @see lotus lib/peermgr/peermgr.go PeerMgr
 */
import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { withTimeout } from '../../base/waiting.ts'
import { P2pError } from '../errors.ts'
import type { PeerName } from '../peerLinks.ts'
import { Backoff } from './backoff.ts'
import { keptAddresses, type PeerBook } from './peerBook.ts'

/** How many peers are kept, and how hard more are sought. */
export interface PeerManagerOptions {
  /** Filecoin peers, chosen or of use, below which more are sought, and above which none are. */
  readonly minPeers: number
  readonly maxPeers: number
  /** How often they are counted, ms. */
  readonly intervalMs: number
  /** Dials at a time. */
  readonly dials: number
  /** How often the DHT is asked, at most, and how long it may take, ms. */
  readonly refreshEveryMs: number
  readonly refreshMs: number
  /** Peers heard of that are kept to be dialled. */
  readonly leads: number
  /** How often what is known is written down, ms; that a peer is of use, with the next look. */
  readonly saveEveryMs: number
}

/** Sought below 12 peers, up to 32; counted each five seconds. */
const PEER_MANAGER: PeerManagerOptions = {
  minPeers: 12,
  maxPeers: 32,
  intervalMs: 5000,
  dials: 8,
  refreshEveryMs: 60_000,
  refreshMs: 30_000,
  leads: 512,
  saveEveryMs: 60_000,
}

/** First wait after a failed dial, and the longest, ms: of any peer, of a bootstrap peer. */
const FIRST_WAIT_MS = 5000
const LONGEST_WAIT_MS = 30 * 60_000
const LONGEST_BOOTSTRAP_WAIT_MS = 30_000

/** Nobody is there that counts: who did not answer is tried as soon as this again. It may have been our own network that was away, ms. */
const LONGEST_WAIT_ALONE_MS = 60_000
/** A dial as a whole, all addresses of a peer together, ms. */
const DIAL_MS = 30_000

/** What the manager has of the host. */
export interface PeerManagerDeps {
  /** Connected peers of any kind. */
  connected(): readonly PeerName[]
  /** Connected peers that speak Filecoin's protocols. */
  filecoinPeers(): readonly PeerName[]
  /** Whether the node dialled a connected peer. */
  isDialled(peer: PeerName): boolean
  /** Whether a connected peer was of use. */
  isUseful(peer: PeerName): boolean
  /** Dials a peer at these addresses; rejects when none answers. */
  dial(peer: PeerName, addresses: readonly string[], signal: AbortSignal): Promise<void>
  /** Dials an address of the bootstrap list, whoever is there. */
  dialAddress(address: string, signal: AbortSignal): Promise<void>
  /** Asks the DHT for more peers, who are heard of by and by. */
  refreshDht(signal: AbortSignal): Promise<void>
  /** Refused: banned, or on the operator's list. */
  isRefused(peer: PeerName): boolean
  /** Banned peers, the best first. */
  turnedAway(): readonly { readonly peer: PeerName; readonly reason: string }[]
  /** Ends a ban. */
  pardon(peer: PeerName): void
  /** How far down a peer belongs. */
  demerits(peer: PeerName): number
  readonly book: PeerBook
  readonly bootstrap: readonly string[]
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/** The manager; it works between `start()` and `stop()`. */
export class PeerManager {
  readonly #deps: PeerManagerDeps
  readonly #options: PeerManagerOptions
  readonly #leads = new Map<PeerName, readonly string[]>()
  readonly #failed: Backoff
  readonly #failedBootstrap: Backoff
  #cancelTick: (() => void) | undefined
  #ended: AbortController | undefined
  #expanding = false
  #refreshing = false
  #isAlone = false
  #refreshedMs = Number.NEGATIVE_INFINITY
  #savedMs = Number.NEGATIVE_INFINITY

  constructor(deps: PeerManagerDeps, options: Partial<PeerManagerOptions> = {}) {
    this.#deps = deps
    this.#options = { ...PEER_MANAGER, ...options }
    const { leads } = this.#options
    this.#failed = new Backoff({ firstMs: FIRST_WAIT_MS, longestMs: LONGEST_WAIT_MS, limit: leads })
    this.#failedBootstrap = new Backoff({ firstMs: FIRST_WAIT_MS, longestMs: LONGEST_BOOTSTRAP_WAIT_MS, limit: leads })
  }

  start(): void {
    if (this.#ended !== undefined) return
    this.#ended = new AbortController()
    this.#tick()
  }

  /** Ends what is under way and writes down what is known. */
  stop(): void {
    this.#ended?.abort()
    this.#ended = undefined
    this.#cancelTick?.()
    try {
      this.#deps.book.save()
    } catch (error) {
      // A full disk: everything else must end all the same.
      this.#notWritten(error)
    }
  }

  /** A peer was heard of: from the DHT, a peer exchange, another protocol. */
  heardOf(peer: PeerName, addresses: readonly string[]): void {
    const kept = keptAddresses(addresses)
    if (kept.length === 0) return
    this.#leads.delete(peer)
    this.#leads.set(peer, kept)
    if (this.#leads.size <= this.#options.leads) return
    const oldest = this.#leads.keys().next()
    if (oldest.done !== true) this.#leads.delete(oldest.value)
  }

  /** A peer is connected, and reached at these addresses. */
  met(peer: PeerName, addresses: readonly string[]): void {
    this.#leads.delete(peer)
    this.#failed.succeeded(peer)
    this.#deps.book.seen(peer, addresses, this.#deps.clock.nowMs())
  }

  #tick(): void {
    const ended = this.#ended
    if (ended === undefined) return
    this.#cancelTick = this.#deps.timers.setTimeout(() => this.#tick(), this.#options.intervalMs)
    let isNew = false
    for (const peer of this.#deps.connected()) {
      if (this.#deps.isUseful(peer) && this.#deps.book.useful(peer, this.#deps.clock.nowMs())) isNew = true
    }
    // Who was of use is not forgotten, whatever ends the process: among strangers it is what the next start has.
    this.#save(isNew)
    if (this.#expanding || this.#hasEnough()) return
    this.#expanding = true
    this.#expand(ended.signal)
      .catch((error: unknown) => this.#deps.log.debug('looking for peers', { reason: String(error) }))
      .finally(() => {
        this.#expanding = false
      })
  }

  /** Of these, whom the node dialled and who was of use. */
  #chosen(peers: readonly PeerName[]): PeerName[] {
    return peers.filter((peer) => this.#deps.isDialled(peer) || this.#deps.isUseful(peer))
  }

  #hasEnough(): boolean {
    return this.#chosen(this.#deps.filecoinPeers()).length >= this.#options.minPeers
  }

  #save(atOnce: boolean): void {
    const now = this.#deps.clock.monotonicMs()
    if (!atOnce && now - this.#savedMs < this.#options.saveEveryMs) return
    this.#savedMs = now
    this.#deps.book.saveAside().catch((error: unknown) => this.#notWritten(error))
  }

  #notWritten(error: unknown): void {
    this.#deps.log.warn('cannot write down the peers', { reason: errorMessage(error) })
  }

  async #expand(signal: AbortSignal): Promise<void> {
    if (this.#chosen(this.#deps.connected()).length === 0) await this.#dialBootstrap(signal)
    await this.#dialKnown(signal)
    if (!signal.aborted) this.#refresh(signal)
    if (!signal.aborted) await this.#reconsider(signal)
  }

  /**
   * Nobody is left: peers that were turned away are better than none, one at a time. Who connected since the last look may
   * not have said yet what it speaks.
   */
  async #reconsider(signal: AbortSignal): Promise<void> {
    const { clock, log, turnedAway, pardon, filecoinPeers } = this.#deps
    const wasAlone = this.#isAlone
    this.#isAlone = filecoinPeers().length === 0
    if (!wasAlone || !this.#isAlone) return
    for (const { peer, reason } of turnedAway()) {
      const addresses = this.#addressesOf(peer)
      if (addresses.length === 0 || !this.#failed.mayTry(peer, clock.monotonicMs())) continue
      log.warn('no peer is left: trying one that was turned away', { peer, reason })
      pardon(peer)
      try {
        await this.#inTime(signal, (inTime) => this.#deps.dial(peer, addresses, inTime))
        return
      } catch (error) {
        this.#notReached(peer, error)
      }
    }
  }

  /** Where a peer was met, or the operator says that it is. */
  #addressesOf(peer: PeerName): readonly string[] {
    const ending = `/p2p/${peer}`
    const said = this.#deps.bootstrap.filter((address) => address.endsWith(ending))
    const met = this.#deps.book.find(peer)?.addresses ?? []
    return [...new Set([...met, ...said.map((address) => address.slice(0, -ending.length))])]
  }

  async #dialBootstrap(signal: AbortSignal): Promise<void> {
    const { bootstrap, log, clock } = this.#deps
    const ready = bootstrap.filter((address) => this.#failedBootstrap.mayTry(address, clock.monotonicMs()))
    if (ready.length === 0) return
    log.info('connecting to bootstrap peers', { count: ready.length })
    await this.#inParallel(ready, async (address) => {
      try {
        await this.#inTime(signal, (inTime) => this.#deps.dialAddress(address, inTime))
        this.#failedBootstrap.succeeded(address)
      } catch (error) {
        this.#failedBootstrap.failed(address, clock.monotonicMs())
        log.debug('bootstrap peer', { address, reason: String(error) })
      }
    })
  }

  /** Those that were of use first, then fresh leads, then others met before. */
  async #dialKnown(signal: AbortSignal): Promise<void> {
    const { book, clock, isRefused } = this.#deps
    const connected = new Set(this.#deps.connected())
    const chosen = this.#chosen([...connected]).length
    const wanted = this.#options.maxPeers - chosen
    const longestMs = chosen === 0 ? LONGEST_WAIT_ALONE_MS : LONGEST_WAIT_MS
    const candidates = new Map<PeerName, readonly string[]>()
    const consider = (peer: PeerName, addresses: readonly string[]): void => {
      if (candidates.size >= wanted || connected.has(peer) || isRefused(peer)) return
      if (this.#failed.mayTry(peer, clock.monotonicMs(), longestMs)) candidates.set(peer, addresses)
    }
    const met = book.list().sort((a, b) => this.#deps.demerits(a.peer) - this.#deps.demerits(b.peer))
    for (const { peer, addresses, isUseful } of met) if (isUseful) consider(peer, addresses)
    for (const [peer, addresses] of [...this.#leads].reverse()) consider(peer, addresses)
    for (const { peer, addresses } of met) consider(peer, addresses)
    await this.#inParallel([...candidates], async ([peer, addresses]) => {
      if (this.#hasEnough()) return
      try {
        await this.#inTime(signal, (inTime) => this.#deps.dial(peer, addresses, inTime))
      } catch (error) {
        this.#notReached(peer, error)
        this.#leads.delete(peer)
      }
    })
  }

  /** libp2p has a time of its own only for dials that nobody else ends. */
  #inTime(signal: AbortSignal, dial: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const late = (): P2pError => new P2pError('TIMEOUT', `not reached within ${DIAL_MS} ms`)
    return withTimeout(this.#deps.timers, DIAL_MS, late, dial, signal)
  }

  #notReached(peer: PeerName, error: unknown): void {
    this.#failed.failed(peer, this.#deps.clock.monotonicMs())
    this.#deps.log.debug('peer not reached', { peer, reason: errorMessage(error) })
  }

  /** One look at a time. Nothing waits for it: with nobody in its table the DHT waits for somebody first. */
  #refresh(signal: AbortSignal): void {
    const now = this.#deps.clock.monotonicMs()
    if (this.#refreshing || this.#deps.connected().length === 0) return
    if (now - this.#refreshedMs < this.#options.refreshEveryMs) return
    this.#refreshedMs = now
    this.#refreshing = true
    const { refreshMs } = this.#options
    const late = (): P2pError => new P2pError('TIMEOUT', `the table was not refreshed within ${refreshMs} ms`)
    withTimeout(this.#deps.timers, refreshMs, late, (inTime) => this.#deps.refreshDht(inTime), signal)
      .catch((error: unknown) => this.#deps.log.debug('looking for peers', { reason: errorMessage(error) }))
      .finally(() => {
        this.#refreshing = false
      })
  }

  async #inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
    const left = [...items]
    const worker = async (): Promise<void> => {
      for (let item = left.shift(); item !== undefined && this.#ended !== undefined; item = left.shift())
        await run(item)
    }
    await Promise.all(Array.from({ length: Math.min(this.#options.dials, items.length) }, worker))
  }
}
