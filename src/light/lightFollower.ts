/**
 * Follows finality from a checkpoint on. The newest final tipset is proven; what lies above it is checked as far as that is
 * possible without older state, and is the head as long as nothing is wrong with it.
 *
 *   certificates -> final tipset -> (named heads, walked down to it and checked) -> head
 *
 * No header before the final tipset is read.
 */

import { errorMessage, unlessThrown } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import { chainHead, type FinalityCertificate, finalizedKey } from '../consensus/f3/certificate.ts'
import { F3Error } from '../consensus/f3/errors.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import type { BlockValidation } from '../consensus/validateBlock.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { type CertificateProgress, CertificateSync } from './certificateSync.ts'
import type { LightCheckpoint } from './checkpoint.ts'
import { LightError } from './errors.ts'
import type { NamedHead } from './lightSource.ts'
import { MAX_ABOVE, NamedHeads } from './namedHeads.ts'
import type { SourceSet, SourceState } from './sourceSet.ts'

/** Between two rounds, as a share of an epoch, and at least, ms. */
const ROUNDS_PER_EPOCH = 2
const MIN_ROUND_MS = 1000
/** Of a round, what is left for heads that were named in it at least: else sources are asked now, and the heads have all of the next. */
const HEADS_SHARE = 0.5
/** Between two rounds whatever heads are named meanwhile, ms: each is looked for among all peers. */
const PAUSE_MS = 200
const MS_PER_SEC = 1000

/** Certificates below the newest that a start looks through for one whose headers are here. */
const MAX_RESUMED_BACK = 1000
/** Rounds without anybody to ask, in which a source that is none of the liars may still come. */
const ROUNDS_AMONG_LIARS = 10

/** The time that was given is over, rather than that somebody ended it. */
function isOver({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Error && reason.name === 'TimeoutError'
}

/** What is proven, and by what. */
export interface FinalPoint {
  readonly tipset: Tipset
  readonly instance: number
  /** Of the power of that instance, from 0 to 1. */
  readonly signedShare: number
}

/** All that a light node knows of itself. */
export interface LightStatus {
  readonly checkpoint: LightCheckpoint
  /** undefined: none has been reached yet. */
  readonly final: FinalPoint | undefined
  /** Not final where it is above `final`. */
  readonly head: Tipset | undefined
  /** Since the newest certificate was verified or confirmed by a source, ms; undefined: never. */
  readonly confirmedMsAgo: number | undefined
  /** The instance after the newest certificate. */
  readonly pendingInstance: number
  readonly sources: readonly SourceState[]
  /** What is wrong now; empty: nothing. */
  readonly trouble: string
}

/** What {@link LightFollower} is made of. */
export interface LightFollowerDeps {
  readonly view: ChainView
  readonly f3: F3
  readonly checkpoint: LightCheckpoint
  readonly sources: SourceSet
  /** Runs what reads the chain, fetching blocks that are missing. */
  readonly edge: BlockEdge
  readonly validation: BlockValidation
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly onProgress?: (progress: CertificateProgress) => void
  /** Hears which peer or endpoint has the newest certificate, or named a head that was sound. */
  readonly onUseful?: (source: string) => void
}

/** See the file's note. */
export class LightFollower {
  readonly #deps: LightFollowerDeps
  readonly #stopping = new AbortController()
  readonly #sync: CertificateSync
  readonly #heads: NamedHeads
  readonly #listeners = new Set<() => void>()
  #final: FinalPoint | undefined
  /** The instance whose final tipset the head is on or above. */
  #headOn: number | undefined
  #confirmedMs: number | undefined
  /** When sources were last asked. */
  #askedMs = Number.NEGATIVE_INFINITY
  #trouble = ''
  /** What was last said of it. */
  #said = ''
  #forked = false
  #isStarted = false
  #cancel: (() => void) | undefined
  #round: Promise<void> | undefined
  #again = false

  constructor(deps: LightFollowerDeps) {
    this.#deps = deps
    this.#sync = new CertificateSync(deps)
    this.#heads = new NamedHeads(deps)
  }

  /**
   * What was verified by an earlier run: without asking anybody for a certificate. It may have ended when it had a certificate, and not yet
   * the headers that this names; where nobody has them now, it is the newest whose headers are here.
   * @returns whether there is a final tipset
   */
  async resume(signal: AbortSignal): Promise<boolean> {
    const { f3 } = this.#deps
    if (f3.needsCheckpoint || f3.latest() === undefined) return false
    try {
      await this.#reachFinal(signal)
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      const kept = this.#newestAtHand()
      if (kept === undefined) return false
      await this.#reach(kept, signal)
    }
    return true
  }

  #newestAtHand(): FinalityCertificate | undefined {
    const { f3, view } = this.#deps
    const newest = f3.pendingInstance() - 1
    for (let instance = newest; instance > newest - MAX_RESUMED_BACK; instance--) {
      const certificate = unlessThrown(() => f3.certificate(instance), F3Error)
      if (certificate === undefined) return undefined
      if (finalizedKey(certificate).every((cid) => hasBlock(view.store.blocks, cid))) return certificate
    }
    return undefined
  }

  /**
   * Follows certificates until there is a final tipset; asks again and again.
   * @throws LightError `FORK`, `NO_SOURCE` when only liars were found, `NO_ANSWER` when the time is over; the signal's reason
   */
  async reachFirst(signal: AbortSignal): Promise<void> {
    for (let alone = 0; ; ) {
      try {
        await this.#certificates(signal)
        await this.#reachFinal(signal)
        if (this.#final !== undefined) return
        this.#trouble = 'no certificate has been seen yet'
      } catch (error) {
        if (isOver(signal)) throw this.#unreached('NO_ANSWER')
        signal.throwIfAborted()
        if (this.#forked) throw error
        this.#trouble = errorMessage(error)
        alone = error instanceof LightError && error.code === 'NO_SOURCE' ? alone + 1 : 0
        if (alone > ROUNDS_AMONG_LIARS && this.#knowsLiars()) throw this.#unreached('NO_SOURCE')
        this.#say('no final tipset yet')
      }
      await sleep(this.#deps.timers, MIN_ROUND_MS, signal)
    }
  }

  #knowsLiars(): boolean {
    return this.#deps.sources.states().some(({ state }) => state === 'dropped')
  }

  /** Says of each source why it was of no use: nothing else tells who lied. */
  #unreached(code: 'NO_SOURCE' | 'NO_ANSWER'): LightError {
    const said = this.#deps.sources
      .states()
      .filter(({ reason }) => reason !== '')
      .map(({ name, state, reason }) => `${name} (${state}): ${reason}`)
    const why = said.length > 0 ? said.join('; ') : this.#trouble || 'no source answered'
    return new LightError(code, `Cannot reach a final tipset: ${why}`)
  }

  /** Follows until it is stopped. */
  start(): void {
    this.#isStarted = true
    this.#schedule(0)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new LightError('NO_ANSWER', 'stopped'))
    this.#cancel?.()
    await this.#round?.catch(() => undefined)
  }

  /**
   * A source (a hello, a block of the gossip) names a head; it is looked at in the next round, at once.
   * @param by - the peer
   */
  offerHead(head: NamedHead, by: string): void {
    if (!this.#heads.offer(head, by) || !this.#isStarted) return
    if (this.#round === undefined) this.#schedule(0)
    else this.#again = true
  }

  /** The newest final tipset; the same as {@link F3.finalizedTipset} once its headers are here. */
  final(): FinalPoint | undefined {
    return this.#final
  }

  status(): LightStatus {
    const { f3, checkpoint, sources, view, clock } = this.#deps
    return {
      checkpoint,
      final: this.#final,
      head: view.store.hasHead && this.#final !== undefined ? view.store.head() : undefined,
      confirmedMsAgo: this.#confirmedMs === undefined ? undefined : clock.monotonicMs() - this.#confirmedMs,
      pendingInstance: f3.isRunning ? f3.pendingInstance() : checkpoint.instance,
      sources: sources.states(),
      trouble: this.#trouble,
    }
  }

  /** Hears of every round that changed something. @returns what ends it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #schedule(ms: number): void {
    if (this.#stopping.signal.aborted || this.#forked) return
    this.#cancel?.()
    this.#cancel = this.#deps.timers.setTimeout(() => {
      this.#again = false
      this.#round = this.#oneRound().finally(() => {
        this.#round = undefined
        this.#schedule(Math.min(this.#again ? PAUSE_MS : Number.POSITIVE_INFINITY, this.#untilAskedMs()))
      })
    }, ms)
  }

  #roundMs(): number {
    const { blockDelaySecs } = this.#deps.view.network
    return Math.max(MIN_ROUND_MS, (blockDelaySecs * MS_PER_SEC) / ROUNDS_PER_EPOCH)
  }

  /** Until sources are asked again, ms. */
  #untilAskedMs(): number {
    return Math.max(0, this.#askedMs + this.#roundMs() - this.#deps.clock.monotonicMs())
  }

  /**
   * Sources are asked once in so long, whoever names heads meanwhile: strangers that name many would have this node ask its honest
   * peers more often than they answer anybody.
   */
  async #oneRound(): Promise<void> {
    const { signal } = this.#stopping
    const asks = this.#untilAskedMs() <= HEADS_SHARE * this.#roundMs()
    try {
      if (asks) {
        this.#askedMs = this.#deps.clock.monotonicMs()
        await this.#certificates(signal)
        this.#trouble = ''
        this.#said = ''
      }
    } catch (error) {
      if (signal.aborted) return
      this.#trouble = errorMessage(error)
      this.#say('finality is not followed')
    }
    try {
      await this.#reachFinal(signal)
      // No longer than until the next round is due: certificates do not wait for heads.
      if (!this.#forked && this.#final !== undefined) {
        const ms = asks ? this.#roundMs() : this.#untilAskedMs()
        await this.#heads.follow(this.#final.tipset, ms, asks, signal)
      }
    } catch (error) {
      if (signal.aborted) return
      this.#trouble = errorMessage(error)
      this.#deps.log.debug('light: round not finished', { reason: this.#trouble })
    }
    for (const listener of [...this.#listeners]) listener()
  }

  /** Once for each reason: a round is a second or two. */
  #say(what: string): void {
    if (this.#said === this.#trouble) return
    this.#said = this.#trouble
    this.#deps.log.warn(what, { reason: this.#trouble })
  }

  async #certificates(signal: AbortSignal): Promise<void> {
    try {
      await this.#sync.round(signal)
      this.#confirmedMs = this.#deps.clock.monotonicMs()
    } catch (error) {
      if (error instanceof LightError && error.code === 'FORK') this.#forked = true
      throw error
    }
  }

  /**
   * Brings the headers of the newest final tipset, and moves the head to it where it is not on its chain. What could not be read
   * for that is read again in the next round.
   */
  async #reachFinal(signal: AbortSignal): Promise<void> {
    const certificate = this.#deps.f3.latest()
    if (certificate !== undefined && certificate.instance !== this.#headOn) await this.#reach(certificate, signal)
  }

  async #reach(certificate: FinalityCertificate, signal: AbortSignal): Promise<void> {
    const { f3, edge, view } = this.#deps
    const tipset = await edge(() => this.#finalTipset(certificate), signal)
    // What a balance is read from is the state that this tipset names.
    this.#final = { tipset, instance: certificate.instance, signedShare: f3.signedShareOf(certificate) }
    const { store } = view
    if (!(await this.#isAbove(store.head(), tipset, signal))) await this.#jump(tipset, signal)
    this.#headOn = certificate.instance
  }

  #finalTipset(certificate: FinalityCertificate): Tipset {
    const tipset = this.#deps.view.store.tipset(finalizedKey(certificate))
    const { epoch } = chainHead(certificate)
    if (tipset.height === epoch) return tipset
    const text = `The certificate of instance ${certificate.instance} names epoch ${epoch}, its blocks are of ${tipset.height}`
    throw new LightError('SOURCE_LIED', text)
  }

  /** Whether a head's chain, as far as it is at hand, leads down to a tipset. */
  async #isAbove(head: Tipset, tipset: Tipset, signal: AbortSignal): Promise<boolean> {
    if (head.height < tipset.height || head.height - tipset.height > MAX_ABOVE) return false
    return this.#deps.edge(() => {
      let at = head
      while (at.height > tipset.height) at = this.#deps.view.store.parent(at)
      return equalTipsetKeys(at.key, tipset.key)
    }, signal)
  }

  async #jump(tipset: Tipset, signal: AbortSignal): Promise<void> {
    const { view, edge } = this.#deps
    const { store } = view
    const head = store.head()
    // Step by step where that is little to read, so that whoever listens hears of each tipset.
    if (tipset.height > head.height && tipset.height - head.height <= MAX_ABOVE && head.height > 0) {
      if (await this.#isAbove(tipset, head, signal)) {
        store.setHead(tipset)
        return
      }
      const branches = await edge(() => this.#shortBranches(head, tipset), signal)
      if (branches) {
        store.setHead(tipset)
        return
      }
    }
    store.jumpTo(tipset)
  }

  /** Whether both branches are short; reads them. */
  #shortBranches(from: Tipset, to: Tipset): boolean {
    const { store } = this.#deps.view
    let left = from
    let right = to
    for (let steps = 0; steps < MAX_ABOVE; steps++) {
      if (equalTipsetKeys(left.key, right.key)) return true
      if (left.height === 0 && right.height === 0) return false
      if (left.height > right.height) left = store.parent(left)
      else right = store.parent(right)
    }
    return false
  }
}
