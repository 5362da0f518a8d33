/**
 * Writes the chain of the head into a database, whole and exactly once:
 *
 *     head moves -> way from the position to the newest executed tipset -> rows -> one transaction with the new position
 *
 * A tipset is executed by the next one, so the index ends one below the head. The position is the database's: after whatever ended a
 * connection it is read anew, and what was written goes on from there.
 */
import { errorMessage } from '../base/errors.ts'
import { Pace } from '../base/pace.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { finish, type Steps } from '../base/steps.ts'
import { abortable, sleep, whenAborted } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Finality } from '../consensus/finality.ts'
import { headerCid } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import {
  type AppliedTipset,
  chainFrom,
  type IndexedChain,
  type IndexPosition,
  type IndexSession,
  type IndexStore,
  type RowBatch,
  type TipsetName,
} from './indexStore.ts'
import { type IndexWay, tipsetsAbove, wayTo } from './indexWay.ts'
import { TIPSETS_AT_ONCE } from './limits.ts'
import { RowCompleter } from './rowCompleter.ts'
import { TipsetRows, tipsetName } from './tipsetRows.ts'

/** What a writer is made of. */
export interface IndexWriterDeps {
  readonly view: ChainView
  readonly vm: VmHost
  readonly store: IndexStore
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Where an empty index begins: an epoch; undefined: the newest executed tipset. */
  readonly from?: ChainEpoch | undefined
  /** Longest time between two attempts, milliseconds. Default: 15 seconds. */
  readonly longestPauseMs?: number
  /** Hears of each failure; the writer tries again unless it is stopped. */
  readonly onFailure?: (error: unknown) => void
}

/** What a writer is told of finality. */
export type IndexFinality = Pick<Finality, 'finalized' | 'onCertificate'>

/** What a writer does. `waiting`: another one writes. */
export type IndexState = 'connecting' | 'waiting' | 'following' | 'failing'

/** How it is. */
export interface IndexStatus {
  readonly state: IndexState
  /** Of the last failure, while it fails. */
  readonly reason: string
  /** Epoch of the newest tipset in the index, as far as this writer knows. */
  readonly height: ChainEpoch | undefined
  /** Epochs from there to the newest executed tipset; undefined: not known. */
  readonly behind: ChainEpoch | undefined
  /** Rows that were written so far of the tipset with which an empty index begins: millions. undefined: none begins. */
  readonly firstRows: number | undefined
  /** Since the start. */
  readonly transactions: number
  readonly tipsets: number
  readonly failures: number
}

/** Between two words about a beginning. */
const BEGINNING_SAID_MS = 10_000
/** How long a walk along the chain may go on before others have their turn, milliseconds. */
const TURN_MS = 5
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000

/** The chain of a node, as an index remembers it. */
export function indexedChain({ store, network }: ChainView): IndexedChain {
  return chainFrom(network, headerCid(firstBlock(store.genesis())))
}

/** Keeps one database at the head, from {@link IndexWriter.start} to {@link IndexWriter.stop}. */
export class IndexWriter {
  readonly #deps: IndexWriterDeps
  readonly #rows: TipsetRows
  readonly #chain: IndexedChain
  readonly #completer: RowCompleter
  readonly #stopping = new AbortController()
  #finality: IndexFinality | undefined
  #running: Promise<void> | undefined
  #wake: () => void = () => undefined
  #moved = true
  #state: IndexState = 'connecting'
  #reason = ''
  #position: IndexPosition | undefined
  /** What an index begins with, while that is written. */
  #beginning: { readonly height: ChainEpoch; rows: number } | undefined
  /** Rows of tipsets that come next, by name. */
  #ahead = new Map<TipsetName, Promise<AppliedTipset>>()
  /** The newest transaction. One whose connection was lost may make rows still. */
  #writing: Promise<void> | undefined
  #transactions = 0
  #tipsets = 0
  #failures = 0

  constructor(deps: IndexWriterDeps) {
    this.#deps = deps
    this.#rows = new TipsetRows(deps.view, deps.vm)
    this.#chain = indexedChain(deps.view)
    this.#completer = new RowCompleter(this.#rows, deps.view.store, deps.log)
  }

  get status(): IndexStatus {
    const height = this.#position?.height
    // Of an index that begins, its first tipset is missing, too.
    const reached = height ?? (this.#beginning && this.#beginning.height - 1)
    return {
      state: this.#state,
      reason: this.#reason,
      height,
      behind: reached === undefined ? undefined : Math.max(0, this.#target().height - reached),
      firstRows: this.#beginning?.rows,
      transactions: this.#transactions,
      tipsets: this.#tipsets,
      failures: this.#failures,
    }
  }

  /** Refuses a database that is not for this chain, before anything is written. One that does not answer is waited for later. */
  async check(): Promise<void> {
    const { store, log } = this.#deps
    try {
      await store.check(this.#chain)
    } catch (error) {
      if (!(error instanceof IndexError) || error.code !== 'CONNECTION_LOST') throw error
      log.warn('the index does not answer yet', { index: store.name, reason: error.message })
    }
  }

  /** Follows the head, and what is final, from now on. */
  start(finality: IndexFinality): void {
    this.#finality = finality
    this.#running ??= this.#run()
  }

  /** Resolves when a transaction under way has ended; one with which an index begins is given up. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    // Whoever stops this closes what they read.
    await Promise.allSettled([this.#writing, ...this.#ahead.values()])
  }

  async #run(): Promise<void> {
    const { view, timers, log, store, longestPauseMs = LONGEST_PAUSE_MS } = this.#deps
    const { signal } = this.#stopping
    const firstMs = Math.min(FIRST_PAUSE_MS, longestPauseMs)
    const notice = (): void => {
      this.#moved = true
      this.#wake()
    }
    const unsubscribe = view.store.onHeadChange(notice)
    const stopListening = this.#finality?.onCertificate(notice)
    whenAborted(signal, notice)
    let pauseMs = firstMs
    while (!signal.aborted) {
      const written = this.#transactions
      try {
        await this.#session(signal, notice)
      } catch (error) {
        if (signal.aborted) break
        this.#failures++
        this.#deps.onFailure?.(error)
        this.#state = 'failing'
        this.#reason = errorMessage(error)
        log.warn('the index is not written', { index: store.name, reason: this.#reason })
        if (this.#transactions > written) pauseMs = firstMs
        await sleep(timers, pauseMs, signal).catch(() => undefined)
        pauseMs = Math.min(2 * pauseMs, longestPauseMs)
      }
    }
    unsubscribe()
    stopListening?.()
  }

  /** Writes as long as the connection lasts. */
  async #session(signal: AbortSignal, notice: () => void): Promise<void> {
    const { store, log } = this.#deps
    const session = await store.open(this.#chain, signal, () => {
      if (this.#state !== 'waiting')
        log.info('another writer has the index: waiting for its end', { index: store.name })
      this.#state = 'waiting'
    })
    whenAborted(session.lost, notice)
    try {
      this.#position = await session.position()
      this.#state = 'following'
      log.info('the index is written', { index: store.name, height: this.#position?.height ?? -1 })
      this.#moved = true
      while (!signal.aborted) {
        if (session.lost.aborted) throw new IndexError('CONNECTION_LOST', `the connection to ${store.name} ended`)
        if (!this.#moved) {
          // Only while nothing else is to be written.
          if (await this.#complete(session)) continue
          if (this.#moved) continue
          await new Promise<void>((resolve) => (this.#wake = resolve))
          continue
        }
        this.#moved = false
        if (await this.#step(session)) this.#moved = true
      }
    } finally {
      await session.close()
    }
  }

  /** Fills in what rows of an earlier Petrel lack. @returns whether there may be more now */
  async #complete(session: IndexSession): Promise<boolean> {
    try {
      return await this.#completer.next(session)
    } catch (error) {
      if (error instanceof IndexError || session.lost.aborted) throw error
      // The machine was busy, say: the chain's next rows must not wait for it, and behind them it is tried again.
      this.#deps.log.warn('rows of an earlier Petrel are completed later', { reason: errorMessage(error) })
      return false
    }
  }

  /** Writes the next change. @returns whether there may be more */
  async #step(session: IndexSession): Promise<boolean> {
    const before = this.#position
    const { reverted, applied, begins } = await this.#way(before, session)
    const head = applied.at(-1)
    const finalized = this.#finality?.finalized().height ?? 0
    const finalHeight = Math.max(Math.min(finalized, head?.height ?? before?.height ?? 0), before?.finalHeight ?? 0)
    if (head === undefined && finalHeight === before?.finalHeight) return false
    const known = begins ? new Set<TipsetName>() : await session.known(applied.map(tipsetName))
    // What cannot be made is found before anything is written.
    const rows = await this.#made(applied.slice(0, TIPSETS_AT_ONCE), known, begins)
    const position: IndexPosition =
      head === undefined
        ? { ...(before as IndexPosition), finalHeight }
        : { tipset: tipsetName(head), key: head.key.map(String), height: head.height, finalHeight }
    if (applied.length === TIPSETS_AT_ONCE) this.#readAbove(head as Tipset)
    // Where it begins anew: its former first tipset has what no other has, the new one may have rows that lack it.
    const forgotten = begins && before !== undefined ? [...reverted.slice(-1), ...applied.map(tipsetName)] : []
    const all = applied.length > rows.length ? this.#inParts(rows, applied, known) : rows
    try {
      this.#writing = session.write({ from: before?.tipset, reverted, applied: all, forgotten, position })
      await abortable(this.#writing, session.lost)
    } finally {
      this.#beginning = undefined
    }
    this.#position = position
    this.#transactions++
    this.#tipsets += applied.length
    return head !== undefined
  }

  /** Rows of tipsets. @param begins - the first of them is the first of the index */
  #made(applied: readonly Tipset[], known: ReadonlySet<TipsetName>, begins: boolean): Promise<AppliedTipset[]> {
    const ahead = this.#ahead
    this.#ahead = new Map()
    // The machine has threads.
    return Promise.all(
      applied.map(async (tipset, i): Promise<AppliedTipset> => {
        const name = tipsetName(tipset)
        const { height } = tipset
        if (begins && i === 0) return this.#counted(await this.#rows.read(tipset, true))
        return known.has(name)
          ? { tipset: name, height, rows: undefined }
          : (ahead.get(name) ?? this.#rows.read(tipset, false))
      }),
    )
  }

  /** Rows of a long reorganisation: while the database writes a part of them the next one is made. @param part - the first */
  async *#inParts(
    part: readonly AppliedTipset[],
    applied: readonly Tipset[],
    known: ReadonlySet<TipsetName>,
  ): AsyncIterable<AppliedTipset> {
    let made = part
    for (let at = TIPSETS_AT_ONCE; ; at += TIPSETS_AT_ONCE) {
      const next = applied.slice(at, at + TIPSETS_AT_ONCE)
      this.#readAhead(next.filter((tipset) => !known.has(tipsetName(tipset))))
      yield* made
      if (next.length === 0) return
      // Whoever stops it does not wait for hundreds of tipsets: nothing of it is written then.
      this.#stopping.signal.throwIfAborted()
      made = await this.#made(next, known, false)
    }
  }

  /** The same rows, counted as they are written, which takes minutes. */
  #counted(tipset: AppliedTipset): AppliedTipset {
    const { clock, log } = this.#deps
    const { height, rows } = tipset
    if (rows === undefined) return tipset
    const beginning = { height, rows: 0 }
    this.#beginning = beginning
    let saidMs = clock.monotonicMs()
    const { signal } = this.#stopping
    const counted = function* (): Iterable<RowBatch> {
      for (const batch of rows.batches) {
        // Whoever stops it does not wait for minutes: nothing of it is written then.
        signal.throwIfAborted()
        yield batch
        beginning.rows += batch.rows.length
        if (clock.monotonicMs() - saidMs < BEGINNING_SAID_MS) continue
        saidMs = clock.monotonicMs()
        log.info('the index begins: every balance and address', { ...beginning })
      }
    }
    return { ...tipset, rows: { own: rows.own, batches: counted() } }
  }

  /** Where many are missing, the next rows are made while the database writes these. */
  #readAbove(at: Tipset): void {
    const { store } = this.#deps.view
    const target = this.#target()
    // The head has gone elsewhere meanwhile.
    if (!store.isAncestor(at, target)) return
    this.#readAhead(finish(tipsetsAbove(store, at, target, TIPSETS_AT_ONCE)))
  }

  #readAhead(tipsets: readonly Tipset[]): void {
    for (const tipset of tipsets) {
      const rows = this.#rows.read(tipset, false)
      // Whoever needs them hears of it.
      rows.catch(() => undefined)
      this.#ahead.set(tipsetName(tipset), rows)
    }
  }

  /** The newest tipset whose execution the head knows; genesis needs none. */
  #target(): Tipset {
    const { store } = this.#deps.view
    const head = store.head()
    return head.height === 0 ? head : store.parent(head)
  }

  async #way(position: IndexPosition | undefined, session: IndexSession): Promise<IndexWay> {
    const { view, clock, timers, from } = this.#deps
    const { store } = view
    const signal = AbortSignal.any([this.#stopping.signal, session.lost])
    const pace = new Pace(clock, timers, TURN_MS)
    const walk = <T>(steps: Steps<T>): Promise<T> => pace.walk(steps, signal)
    const target = this.#target()
    if (position !== undefined) return wayTo(target, position, TIPSETS_AT_ONCE, { store, session, walk })
    const first =
      from === undefined ? target : await walk(store.findByHeight(Math.min(from, target.height), target, 'next'))
    return { reverted: [], applied: [first], begins: true }
  }
}
