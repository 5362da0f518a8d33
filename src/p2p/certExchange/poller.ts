/**
 * Follows finality: asks peers for the next certificates, the useful ones first, and hands them to F3.
 * @see go-f3 certexchange/polling/subscriber.go, poller.go, peerTracker.go
 */
import { errorMessage } from '../../base/errors.ts'
import type { Logger, Timers } from '../../base/ports.ts'
import type { FinalityCertificate } from '../../consensus/f3/certificate.ts'
import { F3Error } from '../../consensus/f3/errors.ts'
import type { PowerTable } from '../../consensus/f3/powerTable.ts'
import { P2pError } from '../errors.ts'
import type { PeerLinks, PeerName } from '../peerLinks.ts'
import type { CertAnswer, CertClient } from './client.ts'
import { MAX_CERTIFICATES } from './limits.ts'
import { PollInterval } from './pollInterval.ts'

/** Where certificates go; an F3 is one. */
export interface CertificateSink {
  /** Whether the first power table is known. */
  readonly isRunning: boolean
  /** Starts from this chain's own state where that is at hand. @returns whether it runs now */
  start(): boolean
  /** Starts from a table that came from a peer. @throws F3Error `POWER_TABLE_WRONG` */
  startFrom(table: PowerTable): void
  /** The instance that is wanted. */
  pendingInstance(): number
  /** @returns how many were new @throws F3Error */
  importCertificates(certificates: Iterable<FinalityCertificate>): number
  readonly manifest: {
    readonly initialInstance: number
    /** null: a table of a peer would be believed blindly, so none is asked for. */
    readonly initialPowerTable: unknown
    readonly minimumPollMs: number
    readonly maximumPollMs: number
  }
}

export interface CertPollerDeps {
  readonly client: CertClient
  readonly f3: CertificateSink
  readonly links: PeerLinks
  readonly timers: Timers
  readonly log: Logger
}

/** Peers that one poll asks. */
const MAX_ASKED = 8
/** Certificates verified in one go: signatures take milliseconds each. */
const IMPORT_BATCH = 4
/** Wait after a new peer, when none was there to ask, milliseconds. */
const NEW_PEER_MS = 1000
/** Recent usefulness of a peer is between minus and plus this. */
const MAX_SCORE = 3

/** Starts to poll. @returns what ends it */
export function startCertPoller(deps: CertPollerDeps): { stop(): void } {
  const poller = new CertPoller(deps)
  return { stop: () => poller.stop() }
}

class CertPoller {
  readonly #deps: CertPollerDeps
  readonly #interval: PollInterval
  readonly #scores = new Map<PeerName, number>()
  readonly #control = new AbortController()
  readonly #ends: (() => void)[]
  #cancel: () => void = () => undefined
  #polling = false
  #hungry = true

  constructor(deps: CertPollerDeps) {
    this.#deps = deps
    const { minimumPollMs, maximumPollMs } = deps.f3.manifest
    this.#interval = new PollInterval(minimumPollMs, maximumPollMs)
    this.#ends = [
      deps.links.onIdentified(() => {
        if (this.#hungry && !this.#polling) this.#schedule(NEW_PEER_MS)
      }),
      deps.links.onDisconnected((peer) => this.#scores.delete(peer)),
    ]
    this.#schedule(0)
  }

  stop(): void {
    for (const end of this.#ends) end()
    this.#cancel()
    this.#control.abort(new P2pError('NOT_STARTED', 'Cannot poll: stopped'))
  }

  get #stopped(): boolean {
    return this.#control.signal.aborted
  }

  #schedule(ms: number): void {
    this.#cancel()
    if (!this.#stopped) this.#cancel = this.#deps.timers.setTimeout(() => void this.#run(), ms)
  }

  async #run(): Promise<void> {
    this.#polling = true
    let progress = 0
    try {
      progress = await this.#poll()
    } catch (error) {
      this.#deps.log.debug('certificates not polled', { error: errorMessage(error) })
    }
    this.#polling = false
    this.#schedule(this.#interval.next(progress))
  }

  /** @returns how many certificates were new */
  async #poll(): Promise<number> {
    const peers = this.#candidates()
    this.#hungry = peers.length === 0
    let progress = 0
    for (const peer of peers) {
      if (this.#stopped) break
      const gained = await this.#pollPeer(peer)
      this.#score(peer, gained > 0 ? 1 : -1)
      progress += gained
    }
    return progress
  }

  /** The most useful first. */
  #candidates(): PeerName[] {
    const score = (peer: PeerName): number => this.#scores.get(peer) ?? 0
    return this.#deps.client
      .peers()
      .sort((a, b) => score(b) - score(a))
      .slice(0, MAX_ASKED)
  }

  #score(peer: PeerName, change: number): void {
    const next = (this.#scores.get(peer) ?? 0) + change
    this.#scores.set(peer, Math.min(MAX_SCORE, Math.max(-MAX_SCORE, next)))
  }

  /** Everything new that a peer has. */
  async #pollPeer(peer: PeerName): Promise<number> {
    const { f3, log } = this.#deps
    let progress = 0
    try {
      if (!f3.isRunning && !(await this.#begin(peer))) return 0
      for (;;) {
        const answer = await this.#ask(peer, f3.pendingInstance(), MAX_CERTIFICATES, false)
        const gained = await this.#import(peer, answer)
        progress += gained
        if (gained === 0 || this.#stopped || answer.pendingInstance <= f3.pendingInstance()) return progress
      }
    } catch (error) {
      log.debug('certificates not fetched', { peer, error: errorMessage(error) })
      return progress
    }
  }

  #ask(peer: PeerName, firstInstance: number, limit: number, includePowerTable: boolean): Promise<CertAnswer> {
    return this.#deps.client.request(peer, { firstInstance, limit, includePowerTable }, this.#control.signal)
  }

  /** The first power table: of this chain's state, else of a peer when the manifest says which it must be. */
  async #begin(peer: PeerName): Promise<boolean> {
    const { f3, log } = this.#deps
    try {
      if (f3.start()) return true
    } catch (error) {
      log.debug('no power table in the state', { error: errorMessage(error) })
    }
    const { initialInstance, initialPowerTable } = f3.manifest
    if (initialPowerTable === null) return false
    const { powerTable } = await this.#ask(peer, initialInstance, 0, true)
    if (powerTable.length === 0) return false
    try {
      f3.startFrom(powerTable)
    } catch (error) {
      this.#blame(peer, error)
      throw error
    }
    return true
  }

  async #import(peer: PeerName, answer: CertAnswer): Promise<number> {
    const { f3, timers } = this.#deps
    let added = 0
    for (let from = 0; from < answer.certificates.length && !this.#stopped; from += IMPORT_BATCH) {
      const batch = answer.certificates.slice(from, from + IMPORT_BATCH).map((one) => one.certificate)
      try {
        added += f3.importCertificates(batch)
      } catch (error) {
        this.#blame(peer, error)
        throw error
      }
      await new Promise<void>((resolve) => timers.setTimeout(resolve, 0))
    }
    return added
  }

  /** A certificate that fails a check is a lie; whatever else went wrong did so here. */
  #blame(peer: PeerName, error: unknown): void {
    if (!(error instanceof F3Error) || OWN_FAULTS.includes(error.code)) return
    this.#deps.links.report(peer, { reason: `finality certificate: ${error.message}`, proven: true })
  }
}

/** Codes that say nothing about who sent the certificate. */
const OWN_FAULTS: readonly F3Error['code'][] = [
  'DISABLED',
  'NOT_RUNNING',
  'NOT_FOUND',
  'MANIFEST_WRONG',
  'STORE_CORRUPT',
]
