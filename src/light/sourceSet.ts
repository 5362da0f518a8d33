/**
 * The sources of a light node together: which are asked first, which were dropped and why. A source that lies is never asked
 * again; one that is slow or silent is asked later.
 *
 *   usable <-> resting (failed several times in a row)      any -> dropped (lied)
 */

import { errorMessage } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { whenAborted, withTimeout } from '../base/waiting.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockSource } from '../ipld/blockFetcher.ts'
import { isBlockOf } from '../ipld/verifyBlock.ts'
import { LightError } from './errors.ts'
import type { LightSource } from './lightSource.ts'
import { FAILURES_TO_REST, HEDGE_MS, MAX_DROPPED_PEERS, MAX_REST_MS, REST_MS, SOURCE_ANSWER_MS } from './limits.ts'

/** How much of a measured time goes into the average. */
const LATENCY_SHARE = 0.2

/** What is known of a source. */
export interface SourceState {
  readonly name: string
  readonly kind: LightSource['kind']
  readonly state: 'usable' | 'resting' | 'dropped'
  /** Of the newest failure, or why it was dropped; empty: none. */
  readonly reason: string
  readonly bytesReceived: number
}

interface Record {
  failures: number
  restUntilMs: number
  latencyMs: number
  reason: string
  dropped: boolean
  kind: LightSource['kind']
  bytesReceived: number
}

/** What {@link SourceSet} is made of. */
export interface SourceSetDeps {
  /** The sources there are now; peers come and go. */
  readonly sources: () => readonly LightSource[]
  /** Hears of each source that lied. */
  readonly onDropped?: (source: LightSource, reason: string) => void
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/** See the file's note. */
export class SourceSet implements BlockSource {
  readonly #deps: SourceSetDeps
  readonly #records = new Map<string, Record>()

  constructor(deps: SourceSetDeps) {
    this.#deps = deps
  }

  /** Usable sources first, the quickest in front; those that rest behind them. Dropped ones are left out. */
  inOrder(): LightSource[] {
    const nowMs = this.#deps.clock.monotonicMs()
    const rests = (source: LightSource): number => (this.#rests(source, nowMs) ? 1 : 0)
    return this.#present(nowMs)
      .filter((source) => !this.#record(source).dropped)
      .sort((a, b) => rests(a) - rests(b) || this.#record(a).latencyMs - this.#record(b).latencyMs)
  }

  /** Whether a source failed several times in a row, and is better left alone while others answer. */
  rests(source: LightSource): boolean {
    return this.#rests(source, this.#deps.clock.monotonicMs())
  }

  #rests(source: LightSource, nowMs: number): boolean {
    return this.#record(source).restUntilMs > nowMs
  }

  /** The sources there are, and of those that have left whoever lied or would rest still. */
  states(): SourceState[] {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const source of this.#present(nowMs)) this.#record(source).bytesReceived = source.bytesReceived
    return [...this.#records].map(([name, { kind, dropped, restUntilMs, reason, bytesReceived }]) => {
      const state = dropped ? 'dropped' : restUntilMs > nowMs ? 'resting' : 'usable'
      return { name, kind, state, reason, bytesReceived }
    })
  }

  /** Never asks a source again. */
  drop(source: LightSource, reason: string): void {
    const record = this.#record(source)
    if (record.dropped) return
    record.dropped = true
    record.reason = reason
    this.#deps.log.warn('a source lied and is not asked again', { source: source.name, reason })
    this.#deps.onDropped?.(source, reason)
  }

  /** Notes that a source is no use just now, though it said nothing false. */
  blame(source: LightSource, reason: string): void {
    const record = this.#record(source)
    if (record.dropped) return
    record.reason = reason
    record.failures++
    if (record.failures < FAILURES_TO_REST) return
    const restMs = Math.min(MAX_REST_MS, REST_MS * 2 ** (record.failures - FAILURES_TO_REST))
    record.restUntilMs = this.#deps.clock.monotonicMs() + restMs
  }

  /**
   * The first answer: sources are asked one after the other, each as soon as the one before failed; where those that were asked took
   * their time, as many more as are silent, so that few good ones are found among many that are not. Who comes meanwhile is asked, too.
   * @param question - undefined where this source cannot be asked that
   * @throws LightError `NO_SOURCE`; `NO_ANSWER` with each source's reason; the signal's reason
   */
  async first<T>(
    question: (source: LightSource) => ((signal: AbortSignal) => Promise<T>) | undefined,
    outer?: AbortSignal,
  ): Promise<T> {
    const asked = new Set<string>()
    const take = (): (() => Promise<T>) | undefined => {
      for (const source of this.inOrder()) {
        const ask = asked.has(source.name) ? undefined : question(source)
        if (ask === undefined) continue
        asked.add(source.name)
        return () =>
          this.ask(source, ask, signal).catch((error: unknown) => {
            reasons.push(`${source.name}: ${errorMessage(error)}`)
            throw error
          })
      }
      return undefined
    }
    outer?.throwIfAborted()
    const over = new AbortController()
    const signal = outer === undefined ? over.signal : AbortSignal.any([outer, over.signal])
    const reasons: string[] = []
    try {
      return await new Promise<T>((resolve, reject) => {
        let running = 0
        let cancelHedge = (): void => undefined
        whenAborted(signal, () => reject(signal.reason as Error))
        const hedge = (): void => {
          for (let more = running; more > 0 && start(); more--);
        }
        /** @returns whether somebody was asked */
        const start = (): boolean => {
          cancelHedge()
          if (signal.aborted) return false
          const ask = take()
          if (ask !== undefined) {
            running++
            ask().then(resolve, () => {
              running--
              start()
            })
          } else if (running === 0) {
            reject(
              reasons.length === 0
                ? new LightError('NO_SOURCE', 'Cannot ask: no source is left')
                : new LightError('NO_ANSWER', `Cannot find it: ${reasons.join('; ')}`),
            )
            return false
          }
          cancelHedge = this.#deps.timers.setTimeout(hedge, HEDGE_MS)
          return ask !== undefined
        }
        whenAborted(over.signal, () => cancelHedge())
        start()
      })
    } finally {
      over.abort(new LightError('NO_ANSWER', 'another source was quicker'))
    }
  }

  /** @see BlockSource: what is not what its CID says costs the source its place. */
  async fetch(cids: readonly Cid[], signal: AbortSignal | undefined): Promise<readonly (readonly [Cid, Uint8Array])[]> {
    const found = new Map<string, readonly [Cid, Uint8Array]>()
    const missing = (): Cid[] => cids.filter((cid) => !found.has(cid.key))
    try {
      await this.first((source) => {
        if (source.blocks === undefined) return undefined
        return async (inner) => {
          const wanted = missing()
          for (const [cid, data] of (await source.blocks?.(wanted, inner)) ?? []) {
            if (!isBlockOf(cid, data)) {
              this.drop(source, `its block ${cid.toString()} hashes to something else`)
              throw new LightError('SOURCE_LIED', 'a false block')
            }
            found.set(cid.key, [cid, data])
          }
          if (missing().length > 0) throw new LightError('NO_ANSWER', `${missing().length} blocks are not there`)
        }
      }, signal)
    } catch (error) {
      if (signal?.aborted === true) throw error
      // What is missing still, the fetcher says.
      if (!(error instanceof LightError)) throw error
    }
    return [...found.values()]
  }

  /**
   * One answer of one source, which is blamed when it fails or takes too long.
   * @throws LightError `NO_ANSWER` when the time is over; the reason of `outer`; whatever `question` throws
   */
  async ask<T>(source: LightSource, question: (signal: AbortSignal) => Promise<T>, outer: AbortSignal): Promise<T> {
    const { clock, timers } = this.#deps
    const record = this.#record(source)
    const begun = clock.monotonicMs()
    const late = (): LightError => new LightError('NO_ANSWER', 'no answer in time')
    try {
      const answer = await withTimeout(timers, SOURCE_ANSWER_MS, late, question, outer)
      record.failures = 0
      record.restUntilMs = 0
      record.latencyMs += LATENCY_SHARE * (clock.monotonicMs() - begun - record.latencyMs)
      return answer
    } catch (error) {
      // Nothing is held against who was merely slower than another.
      if (!outer.aborted) this.blame(source, errorMessage(error))
      throw error
    }
  }

  /** The sources there are. Who has left is forgotten, of those that lied the first: peers come and go for months. */
  #present(nowMs: number): readonly LightSource[] {
    const sources = this.#deps.sources()
    const names = new Set(sources.map(({ name }) => name))
    const liars: string[] = []
    for (const [name, { dropped, restUntilMs }] of this.#records) {
      if (names.has(name)) continue
      if (dropped) liars.push(name)
      else if (restUntilMs <= nowMs) this.#records.delete(name)
    }
    for (const name of liars.slice(0, Math.max(0, liars.length - MAX_DROPPED_PEERS))) this.#records.delete(name)
    return sources
  }

  #record(source: LightSource): Record {
    let record = this.#records.get(source.name)
    if (record === undefined) {
      record = {
        failures: 0,
        restUntilMs: 0,
        latencyMs: 0,
        reason: '',
        dropped: false,
        kind: source.kind,
        bytesReceived: 0,
      }
      this.#records.set(source.name, record)
    }
    return record
  }
}
