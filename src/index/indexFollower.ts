/**
 * Follows the head of an index: the newest tipset in it becomes the head here, once its headers are. Nothing is believed of blocks: they
 * are fetched by the CIDs that the index names.
 *
 *     index moves -> headers on the way -> head moves; a connection that is lost, or blocks that nobody has: it stands, and says so
 */
import { errorMessage } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { sleep, withTimeout } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { parseCid } from '../codec/cid.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import type { IndexReader, IndexStanding } from './indexReader.ts'
import { FOLLOW_MS, STANDING_MS } from './limits.ts'
import { tipsetName } from './tipsetRows.ts'

/** What a follower is made of. */
export interface IndexFollowerDeps {
  readonly view: ChainView
  readonly reader: IndexReader
  /** Fetches what is missing. */
  readonly edge: BlockEdge
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/** How it is. */
export interface FollowerStatus {
  /** Of the index; undefined: it is empty, or does not answer. */
  readonly indexHeight: ChainEpoch | undefined
  /** What keeps the head from being the index's; empty: nothing. */
  readonly trouble: string
}

/** Between two looks, milliseconds. */
const PAUSE_MS = 250
/** Tipsets of a way that is walked; a longer one is jumped. */
const LONGEST_WAY = 900

/** Moves a replica's head along an index. */
export class IndexFollower {
  readonly #deps: IndexFollowerDeps
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #indexHeight: ChainEpoch | undefined
  #final: Tipset | undefined
  /** When the index answered last, or was first asked: Unix milliseconds. */
  #answeredMs: number | undefined
  /** Whether the head has been one of the index since the start. */
  #isReached = false
  #trouble = ''

  constructor(deps: IndexFollowerDeps) {
    this.#deps = deps
  }

  get status(): FollowerStatus {
    return { indexHeight: this.#indexHeight, trouble: this.#trouble }
  }

  /** The newest final tipset of the index; undefined: it begins above that. */
  final(): Tipset | undefined {
    return this.#final
  }

  /** Resolves when the head is the index's. @throws the signal's reason */
  async reachFirst(signal: AbortSignal, say: (text: string) => void): Promise<void> {
    let said = ''
    for (;;) {
      await this.#look(signal)
      if (this.#isReached) return
      if (this.#trouble !== said) say(`waiting for the index: ${this.#trouble}`)
      said = this.#trouble
      await sleep(this.#deps.timers, PAUSE_MS, signal)
    }
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new IndexError('CONNECTION_LOST', 'stopped'))
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#look(signal)
      await sleep(this.#deps.timers, PAUSE_MS, signal).catch(() => undefined)
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { timers, log } = this.#deps
    const before = this.#trouble
    try {
      const standing = await this.#standing(signal)
      const late = (): Error => new IndexError('CONNECTION_LOST', 'blocks of the head of the index do not come')
      this.#trouble =
        standing === undefined
          ? 'the index is empty'
          : await withTimeout(timers, FOLLOW_MS, late, (limited) => this.#follow(standing, limited), signal)
    } catch (error) {
      if (signal.aborted) return
      this.#trouble = errorMessage(error)
    }
    if (this.#trouble !== before && this.#trouble !== '')
      log.warn('the head of the index is not followed', { reason: this.#trouble })
  }

  /** Where the index stands; a database that hangs is not waited for, it is asked again. */
  async #standing(signal: AbortSignal): Promise<IndexStanding | undefined> {
    const { view, reader, clock, timers } = this.#deps
    this.#answeredMs ??= clock.nowMs()
    const since = new Date(this.#answeredMs).toISOString()
    const late = (): Error => new IndexError('CONNECTION_LOST', `the index has not answered since ${since}`)
    try {
      const ask = (): Promise<IndexStanding | undefined> => reader.standing(tipsetName(view.store.head()))
      const standing = await withTimeout(timers, STANDING_MS, late, ask, signal)
      this.#answeredMs = clock.nowMs()
      this.#indexHeight = standing?.height
      return standing
    } catch (error) {
      this.#indexHeight = undefined
      throw error
    }
  }

  /** @returns what is in the way; empty: nothing */
  async #follow(standing: IndexStanding, signal: AbortSignal): Promise<string> {
    const { view, edge } = this.#deps
    const { store } = view
    const { key, tipset, height, finalKey } = standing
    const load = (cids: readonly string[]): Promise<Tipset> => edge(() => store.tipset(cids.map(parseCid)), signal)
    const head = store.head()
    if (tipset !== tipsetName(head)) {
      const target = await load(key)
      if (target.height !== height || tipsetName(target) !== tipset)
        return `the index names a wrong tipset at epoch ${height}`
      // Where it stood before its start, too: a replica's store has no other head than an index's.
      if (height < head.height && (await edge(() => store.isAncestor(target, head), signal))) {
        this.#isReached = true
        // What is final there is so below a higher head, too.
        if (finalKey !== null) this.#final ??= await load(finalKey)
        return `the index has gone back from epoch ${head.height} to ${height}: restored, or a standby that was behind`
      }
      await this.#move(head, target, signal)
    }
    this.#isReached = true
    if (finalKey !== null && finalKey.join() !== this.#final?.key.join()) this.#final = await load(finalKey)
    return ''
  }

  async #move(head: Tipset, target: Tipset, signal: AbortSignal): Promise<void> {
    const { view, edge } = this.#deps
    const { store } = view
    const isNear = Math.abs(target.height - head.height) <= LONGEST_WAY
    if (isNear && head.height > 0) {
      try {
        await edge(() => store.branches(head, target, LONGEST_WAY), signal)
        // Whoever is late moves nothing: another look is under way.
        signal.throwIfAborted()
        store.setHead(target)
        return
      } catch (error) {
        if (!(error instanceof ChainError) || error.code !== 'PATH_TOO_LONG') throw error
      }
    }
    signal.throwIfAborted()
    store.jumpTo(target)
  }
}
