/**
 * Follows finality from a checkpoint on. The newest final tipset is proven; what lies above it is checked as far as that is
 * possible without older state, and is the head as long as nothing is wrong with it.
 *
 *   certificates -> final tipset -> (named heads, walked down to it and checked) -> head
 *
 * No header before the final tipset is read.
 */

import { errorMessage } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { sleep } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import { chainHead, type FinalityCertificate, finalizedKey } from '../consensus/f3/certificate.ts'
import type { F3 } from '../consensus/f3/f3.ts'
import { type BlockValidation, validateAboveFinal } from '../consensus/validateBlock.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { equalTipsetKeys, type Tipset, type TipsetKey, tipsetKeyText } from '../types/tipset.ts'
import { type CertificateProgress, syncCertificates } from './certificateSync.ts'
import type { LightCheckpoint } from './checkpoint.ts'
import { LightError } from './errors.ts'
import type { NamedHead } from './lightSource.ts'
import type { SourceSet, SourceState } from './sourceSet.ts'

/** Tipsets above the final one that are walked at most: further below a head F3 stands still, and the head is not followed. */
const MAX_ABOVE = 900
/** Between two rounds, as a share of an epoch, and at least, ms. */
const ROUNDS_PER_EPOCH = 2
const MIN_ROUND_MS = 1000
/** How long a walk from a named head may take, ms. */
const WALK_MS = 60_000
/** Heads that wait to be looked at. */
const MAX_OFFERED = 16
const MS_PER_SEC = 1000

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
}

/** See the file's note. */
export class LightFollower {
  readonly #deps: LightFollowerDeps
  readonly #stopping = new AbortController()
  readonly #offered = new Map<string, NamedHead>()
  readonly #checked = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #final: FinalPoint | undefined
  #confirmedMs: number | undefined
  #trouble = ''
  #forked = false
  #cancel: (() => void) | undefined
  #round: Promise<void> | undefined
  #again = false

  constructor(deps: LightFollowerDeps) {
    this.#deps = deps
  }

  /**
   * What was verified by an earlier run: without asking anybody for a certificate.
   * @returns whether there is a final tipset
   */
  async resume(signal: AbortSignal): Promise<boolean> {
    const { f3 } = this.#deps
    if (f3.needsCheckpoint || f3.latest() === undefined) return false
    await this.#reachFinal(signal)
    return true
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
        this.#deps.log.info('no final tipset yet', { reason: this.#trouble })
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
    this.#schedule(0)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new LightError('NO_ANSWER', 'stopped'))
    this.#cancel?.()
    await this.#round?.catch(() => undefined)
  }

  /** A source (a hello, a block of the gossip) names a head; it is looked at in the next round. */
  offerHead(head: NamedHead): void {
    const name = tipsetKeyText(head.key)
    if (head.key.length === 0 || this.#checked.has(name)) return
    this.#offered.delete(name)
    this.#offered.set(name, head)
    for (const key of this.#offered.keys()) {
      if (this.#offered.size <= MAX_OFFERED) break
      this.#offered.delete(key)
    }
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
        this.#schedule(this.#again ? 0 : this.#roundMs())
      })
    }, ms)
  }

  #roundMs(): number {
    const { blockDelaySecs } = this.#deps.view.network
    return Math.max(MIN_ROUND_MS, (blockDelaySecs * MS_PER_SEC) / ROUNDS_PER_EPOCH)
  }

  async #oneRound(): Promise<void> {
    const { signal } = this.#stopping
    try {
      await this.#certificates(signal)
      this.#trouble = ''
    } catch (error) {
      if (signal.aborted) return
      this.#trouble = errorMessage(error)
      this.#deps.log.warn('finality is not followed', { reason: this.#trouble })
    }
    try {
      await this.#reachFinal(signal)
      if (!this.#forked) await this.#followHead(signal)
    } catch (error) {
      if (signal.aborted) return
      this.#trouble = errorMessage(error)
      this.#deps.log.debug('light: round not finished', { reason: this.#trouble })
    }
    for (const listener of [...this.#listeners]) listener()
  }

  async #certificates(signal: AbortSignal): Promise<void> {
    try {
      await syncCertificates(this.#deps, signal)
      this.#confirmedMs = this.#deps.clock.monotonicMs()
    } catch (error) {
      if (error instanceof LightError && error.code === 'FORK') this.#forked = true
      throw error
    }
  }

  /** Brings the headers of the newest final tipset, and moves the head to it where it is not on its chain. */
  async #reachFinal(signal: AbortSignal): Promise<void> {
    const { f3, edge, view } = this.#deps
    const certificate = f3.latest()
    if (certificate === undefined || certificate.instance === this.#final?.instance) return
    const tipset = await edge(() => this.#finalTipset(certificate), signal)
    // What a balance is read from is the state that this tipset names.
    this.#final = { tipset, instance: certificate.instance, signedShare: f3.latestSignedShare() ?? 0 }
    const { store } = view
    if (!(await this.#isAbove(store.head(), tipset, signal))) await this.#jump(tipset, signal)
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

  async #followHead(signal: AbortSignal): Promise<void> {
    const final = this.#final?.tipset
    if (final === undefined) return
    const { store } = this.#deps.view
    for (const named of await this.#namedHeads(signal)) {
      if (named.height <= final.height || named.height <= store.head().height) continue
      this.#checked.add(tipsetKeyText(named.key))
      try {
        await this.#walk(named, final, AbortSignal.any([signal, AbortSignal.timeout(WALK_MS)]))
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.log.debug('a named head was not taken', { height: named.height, reason: errorMessage(error) })
      }
    }
    if (this.#checked.size > MAX_ABOVE * MAX_OFFERED) this.#checked.clear()
  }

  async #namedHeads(signal: AbortSignal): Promise<NamedHead[]> {
    const offered = [...this.#offered.values()]
    this.#offered.clear()
    const asked = this.#deps.sources.inOrder().flatMap((source) =>
      source.head === undefined
        ? []
        : [
            source.head(AbortSignal.any([signal, AbortSignal.timeout(WALK_MS)])).catch((error: unknown) => {
              this.#deps.sources.blame(source, errorMessage(error))
              return undefined
            }),
          ],
    )
    const named = (await Promise.all(asked)).filter((head) => head !== undefined)
    return [...offered, ...named].sort((a, b) => b.height - a.height)
  }

  /** Walks a named head down to the final tipset, checks upwards, and takes it when it is heavier. */
  async #walk(named: NamedHead, final: Tipset, signal: AbortSignal): Promise<void> {
    const { edge, view } = this.#deps
    const chain = await edge(() => this.#chainDownTo(named.key, final), signal)
    for (const tipset of chain) {
      const name = `valid ${tipsetKeyText(tipset.key)}`
      if (this.#checked.has(name)) continue
      await edge(() => this.#check(tipset, final), signal)
      this.#checked.add(name)
    }
    const top = chain.at(-1)
    if (top === undefined) return
    const head = view.store.head()
    const isHeavier = await edge(() => view.weight(top) > view.weight(head), signal)
    if (!isHeavier && head.height >= final.height) return
    await edge(() => view.store.branches(head, top), signal)
    view.store.setHead(top)
  }

  /** Lowest first, without the final tipset. @throws LightError `SOURCE_LIED` */
  #chainDownTo(key: TipsetKey, final: Tipset): Tipset[] {
    const { store } = this.#deps.view
    const out: Tipset[] = []
    for (let at = store.tipset(key); ; at = store.parent(at)) {
      if (equalTipsetKeys(at.key, final.key)) return out.reverse()
      if (at.height <= final.height) {
        throw new LightError('SOURCE_LIED', `a head whose chain contradicts what is final at epoch ${final.height}`)
      }
      if (out.length >= MAX_ABOVE) throw new LightError('NO_ANSWER', 'a head too far above what is final')
      out.push(at)
    }
  }

  /** @throws ValidationError */
  #check(tipset: Tipset, final: Tipset): void {
    const { validation, view } = this.#deps
    const base = view.store.parent(tipset)
    const state = view.stateBefore(final)
    const lookback = (): { tipset: Tipset; state: typeof state } => ({ tipset: final, state })
    for (const header of tipset.blocks) validateAboveFinal({ header, base }, { ...validation, lookback })
  }
}
