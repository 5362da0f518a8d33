/**
 * Follows F3: starts it once the chain has reached the bootstrap, asks peers for new certificates, and makes what they
 * finalize the checkpoint.
 * @see go-f3 certexchange/polling/subscriber.go, poller.go; f3.go Start
 */
import { errorMessage } from '../base/errors.ts'
import { Pace } from '../base/pace.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import { type FinalityCertificate, finalizedKey } from '../consensus/f3/certificate.ts'
import { F3Error } from '../consensus/f3/errors.ts'
import { type F3, isOutOfReach } from '../consensus/f3/f3.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { CertAnswer, CertQuestion } from '../p2p/certExchange/client.ts'
import { type PeerLinks, type PeerName, reportError } from '../p2p/peerLinks.ts'
import type { TipsetKey } from '../types/tipset.ts'
import { STRETCH_MS } from './limits.ts'

/** Certificates asked for at once. */
const BATCH = 128
/** Verified between two pauses for others: some 40 ms. */
const SLICE = 8
/** Batches taken from one peer in one poll. */
const BATCHES_PER_POLL = 16
/** Peers asked in one poll; so many where none of these has as many certificates as this node. */
const PEERS_PER_POLL = 4
const MOST_PER_POLL = 32
/** Who brought news, of which so many are asked first. */
const BEARERS = 2
/** Who says nothing for so long keeps nobody else waiting any more, ms. */
export const SILENT_MS = 1000

/** Who is asked for certificates. */
export interface CertificatePeers {
  peers(): PeerName[]
  request(peer: PeerName, question: CertQuestion, signal?: AbortSignal): Promise<CertAnswer>
}

/** F3, the peers that are asked for certificates, and the syncer's checkpoint. */
export interface F3FollowerDeps {
  readonly f3: F3
  readonly peers: CertificatePeers
  readonly links: Pick<PeerLinks, 'report'>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Runs what reads the chain, fetching blocks that are missing. */
  readonly run: <T>(read: () => T | Promise<T>) => T | Promise<T>
  /** Makes a final tipset the checkpoint: the syncer's. */
  readonly checkpoint: (key: TipsetKey) => Promise<void>
}

/** What is heard while peers are polled. */
interface Round {
  /** Somebody says that it has as many certificates as this node, or more. */
  isConfirmed: boolean
}

/** Follows until it is stopped. */
export class F3Follower {
  readonly #deps: F3FollowerDeps
  readonly #stopping = new AbortController()
  /** Peers, whose turn is longest ago first. */
  readonly #queue = new Set<PeerName>()
  /** Who brought certificates, the last one last. */
  readonly #bearers = new Set<PeerName>()
  /** Who is waited for no longer, and may answer still. */
  readonly #underWay = new Map<PeerName, Promise<void>>()
  /** What these brought. */
  #addedLate = 0
  #waitMs: number
  #cancel: (() => void) | undefined
  #polling: Promise<void> | undefined
  #checkpointing = false
  #wanted: FinalityCertificate | undefined
  #unsubscribe: (() => void) | undefined
  #stopWaiting: (() => void) | undefined

  constructor(deps: F3FollowerDeps) {
    this.#deps = deps
    this.#waitMs = deps.f3.manifest.minimumPollMs
  }

  start(): void {
    this.#unsubscribe ??= this.#deps.f3.onCertificate((certificate) => this.#finalize(certificate))
    // What an earlier run found is final still.
    const latest = this.#deps.f3.latest()
    if (latest !== undefined) this.#finalize(latest)
    // Nothing is asked of peers before.
    this.#stopWaiting ??= this.#deps.f3.onBootstrap(() => this.#schedule(0))
  }

  /** Ends the timer and the question under way. */
  async stop(): Promise<void> {
    this.#stopping.abort(new F3Error('DISABLED', 'Cannot ask for certificates: stopped'))
    this.#stopWaiting?.()
    this.#cancel?.()
    this.#unsubscribe?.()
    await this.#polling
    await Promise.all(this.#underWay.values())
  }

  /** Asks peers once. @returns how many certificates were new since it did so before */
  async poll(): Promise<number> {
    const { f3 } = this.#deps
    if (!(await this.#started())) return 0
    const round: Round = { isConfirmed: false }
    let asked = 0
    const before = f3.pendingInstance() - this.#addedLate
    this.#addedLate = 0
    for (const peer of this.#nextPeers(MOST_PER_POLL)) {
      if (this.#stopping.signal.aborted || (asked >= PEERS_PER_POLL && round.isConfirmed)) break
      asked++
      await this.#pollUntilSilent(peer, round)
    }
    return f3.pendingInstance() - before
  }

  /** Resolves when a peer has nothing more, or says nothing. */
  async #pollUntilSilent(peer: PeerName, round: Round): Promise<void> {
    this.#queue.delete(peer)
    this.#queue.add(peer)
    const silent = Promise.withResolvers<undefined>()
    let isAwaited = true
    const asking = this.#pollPeer(peer, round, () => silent.resolve(undefined)).then((added) => {
      this.#underWay.delete(peer)
      if (!isAwaited) this.#addedLate += added
    })
    this.#underWay.set(peer, asking)
    await Promise.race([asking, silent.promise])
    isAwaited = false
  }

  /**
   * Whose turn it is: who brought news last, then the others one after the other, newcomers last. Peers that have nothing new are
   * honest all the same: always the same few would keep this node from the certificates of all others.
   * @see go-f3 certexchange/polling/peerTracker.go suggestPeers
   */
  #nextPeers(most: number): PeerName[] {
    const present = new Set(this.#deps.peers.peers())
    for (const kept of [this.#queue, this.#bearers]) for (const peer of kept) if (!present.has(peer)) kept.delete(peer)
    for (const peer of present) this.#queue.add(peer)
    const bearers = [...this.#bearers].reverse().slice(0, BEARERS)
    return [...new Set([...bearers, ...this.#queue])].filter((peer) => !this.#underWay.has(peer)).slice(0, most)
  }

  #schedule(ms: number): void {
    if (this.#stopping.signal.aborted) return
    this.#cancel = this.#deps.timers.setTimeout(() => {
      this.#polling = this.#pollOnce()
    }, ms)
  }

  /** Polls more often while there is news, less often while there is none. */
  async #pollOnce(): Promise<void> {
    const { minimumPollMs, maximumPollMs } = this.#deps.f3.manifest
    try {
      const added = await this.poll()
      this.#waitMs = added > 0 ? minimumPollMs : Math.min(this.#waitMs * 2, maximumPollMs)
    } catch (error) {
      this.#deps.log.warn('certificates not asked for', { error: errorMessage(error) })
    }
    this.#schedule(this.#waitMs)
  }

  /** From the chain's own state; where that is not at hand, from a peer's table that hashes to what the manifest says. */
  async #started(): Promise<boolean> {
    const { f3, run, clock, timers, log } = this.#deps
    const start = (): Promise<boolean> => new Pace(clock, timers, STRETCH_MS).walk(f3.starting(), this.#stopping.signal)
    try {
      return await start()
    } catch (error) {
      if (this.#stopping.signal.aborted) return false
      if (!(error instanceof BlockMissing) && !isOutOfReach(error)) {
        log.warn('F3 not started', { error: errorMessage(error) })
        return false
      }
    }
    if (f3.manifest.initialPowerTable !== null) return this.#startFromPeers()
    try {
      return await run(start)
    } catch (error) {
      if (this.#stopping.signal.aborted) return false
      log.warn('F3 not started', { error: errorMessage(error) })
      return false
    }
  }

  async #startFromPeers(): Promise<boolean> {
    const { f3, peers, log } = this.#deps
    const question = { firstInstance: f3.manifest.initialInstance, limit: 0, includePowerTable: true }
    for (const peer of this.#nextPeers(PEERS_PER_POLL)) {
      this.#queue.delete(peer)
      this.#queue.add(peer)
      try {
        f3.startFrom((await peers.request(peer, question, this.#stopping.signal)).powerTable)
        return true
      } catch (error) {
        log.debug('no first power table', { peer, error: errorMessage(error) })
      }
    }
    return false
  }

  /** Never rejects. @param onSilent - told each time that an answer takes long @returns how many certificates were new */
  async #pollPeer(peer: PeerName, round: Round, onSilent: () => void): Promise<number> {
    const { f3, links, log, run, timers } = this.#deps
    let added = 0
    try {
      for (let batch = 0; batch < BATCHES_PER_POLL; batch++) {
        const { certificates, pendingInstance } = await this.#ask(peer, onSilent)
        if (pendingInstance >= f3.pendingInstance()) round.isConfirmed = true
        if (certificates.length === 0) break
        const before = added
        for (let from = 0; from < certificates.length; from += SLICE) {
          if (from > 0) await sleep(timers, 0, this.#stopping.signal)
          const slice = certificates.slice(from, from + SLICE).map(({ certificate }) => certificate)
          const taken = await run(() => f3.importCertificates(slice))
          added += taken
          if (taken > 0) this.#noteBearer(peer)
        }
        if (added === before) break
      }
    } catch (error) {
      if (this.#stopping.signal.aborted) return added
      this.#bearers.delete(peer)
      // A certificate that fails a check is a lie of whoever sent it.
      if (error instanceof F3Error) reportError(links, peer, 'certificate', error)
      log.debug('no certificates', { peer, error: errorMessage(error) })
    }
    return added
  }

  #noteBearer(peer: PeerName): void {
    this.#bearers.delete(peer)
    this.#bearers.add(peer)
  }

  async #ask(peer: PeerName, onSilent: () => void): Promise<CertAnswer> {
    const { f3, peers, timers } = this.#deps
    const question = { firstInstance: f3.pendingInstance(), limit: BATCH, includePowerTable: false }
    const cancel = timers.setTimeout(onSilent, SILENT_MS)
    try {
      return await peers.request(peer, question, this.#stopping.signal)
    } finally {
      cancel()
    }
  }

  /**
   * One checkpoint at a time, and always the newest. A checkpoint behind which the head never goes anyway is none: until the
   * certificates of years have come up to the head, each would be a walk down all of its chain.
   */
  #finalize(certificate: FinalityCertificate): void {
    if (this.#deps.f3.isBuried(certificate)) return
    this.#wanted = certificate
    if (this.#checkpointing) return
    this.#checkpointing = true
    void this.#checkpointAll()
  }

  async #checkpointAll(): Promise<void> {
    const { checkpoint, log } = this.#deps
    while (this.#wanted !== undefined && !this.#stopping.signal.aborted) {
      const certificate = this.#wanted
      this.#wanted = undefined
      try {
        await checkpoint(finalizedKey(certificate))
      } catch (error) {
        log.warn('checkpoint of F3 refused', { instance: certificate.instance, error: errorMessage(error) })
      }
    }
    this.#checkpointing = false
  }
}
