/**
 * The local chain's clockwork: makes tipsets by time, on a message, or when asked, and moves the head to them.
 */

import { errorMessage } from '../base/errors.ts'
import { Serial, sleep } from '../base/waiting.ts'
import { allAtHand } from '../ipld/blockFetcher.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { Producer } from './blocks.ts'
import { DevnetError } from './errors.ts'
import { keepsClock } from './options.ts'
import { type DevnetDeps, TipsetMaker, timestampAfter } from './tipsetMaker.ts'

/** How the chain is driven. */
export interface DevnetPace {
  /** Milliseconds between epochs while running; 0: none by time. */
  readonly blockTimeMs: number
  /** Makes a block as soon as a message arrives. */
  readonly instant: boolean
  /** Given: producers of this chain run in other nodes too, so that an epoch is what the wall clock says. */
  readonly produce?: readonly number[] | undefined
}

/** One order to {@link Devnet.mine}. */
export interface MineOptions {
  /** Null rounds before the first tipset. */
  readonly nullRounds?: number
  /**
   * Rebuild the last so many epochs on a branch of empty blocks, until it is heavier: a reorganisation. The messages of
   * the old branch go back to the pool.
   */
  readonly fork?: number
}

/** Epochs that are tried for a winner; with all power at work, 20 empty ones in a row have a chance of 10^-43. */
const MAX_EMPTY_ROUNDS = 20
const MS_PER_SEC = 1000
/** Part of an epoch that passes before its blocks are made among others: clocks differ, and a block of the future is refused. */
const CLOCKS_SHARE = 0.05
/** Epochs that a chain makes up for at once when it is behind its clock: a slow start, a busy machine. */
const CATCH_UP_EPOCHS = 10
/** Timers do not go by the clock that blocks are dated with: after this long it is asked again, ms. It may have been set. */
const LONGEST_SLEEP_MS = 5000

/**
 * A running local chain. Orders are carried out one after the other.
 *
 *   stopped --start--> running --stop--> stopped
 *
 * While running, each `blockTimeMs` is one epoch: a tipset, or a null round when nobody wins. Alone, the chain goes on
 * where it stopped, so it may be behind the clock for good; with producers in other nodes all keep to the wall clock. Where
 * the chain keeps the clock ({@link keepsClock}), blocks are made at their timestamps and never before: orders wait.
 */
export class Devnet {
  readonly producers: readonly Producer[]
  readonly #deps: DevnetDeps
  readonly #pace: DevnetPace
  readonly #maker: TipsetMaker
  #cancel: (() => void) | undefined
  /** What was made before in the epoch in which the chain was started nobody here remembers. */
  #startedIn = 0
  /** Fires for those that wait when the chain stops. */
  #stopping = new AbortController()
  #running = false
  #emptyRounds = 0
  /** The highest epoch that blocks were made in. */
  #lastMade = 0
  #instantPending = false
  /** The last epoch could not be made. */
  #hasFailed = false
  /** What was last said of it. */
  #failure = ''
  readonly #orders = new Serial()

  constructor(producers: readonly Producer[], deps: DevnetDeps, pace: DevnetPace) {
    this.producers = producers
    this.#deps = deps
    this.#pace = pace
    this.#maker = new TipsetMaker(producers, deps, (timestamp) => this.#reach(timestamp))
  }

  /** Starts the clock: one epoch at once, then one every block time. */
  start(): void {
    if (this.#running) return
    this.#running = true
    this.#startedIn = this.#clockEpoch()
    if (this.#pace.blockTimeMs > 0) this.#schedule(this.#deps.clock.monotonicMs())
  }

  /**
   * Stops the clock; resolves when what was being made is done. An order that waits for its timestamp is given up (`STOPPED`);
   * those that come afterwards are carried out.
   */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancel?.()
    this.#cancel = undefined
    this.#stopping.abort(new DevnetError('STOPPED', 'Cannot mine: the chain was stopped before the next block was due'))
    this.#stopping = new AbortController()
    await this.#orders.idle()
  }

  get isRunning(): boolean {
    return this.#running
  }

  /** Tells that a message is in the pool; with instant mining a tipset follows. */
  messageArrived(): void {
    if (!this.#pace.instant || this.#instantPending) return
    this.#instantPending = true
    // Not at once: the caller is still inside the pool, and messages that come together share a block.
    this.#deps.timers.setTimeout(() => {
      this.#instantPending = false
      this.mine(1).catch((error: unknown) => this.#failed(error))
    }, 0)
  }

  /**
   * Makes `count` tipsets on the head; epochs without a winner become null rounds.
   * @returns the new head
   * @throws DevnetError `NO_WINNER`, `FORK_TOO_DEEP`, `OPTIONS_INVALID`, `STOPPED`
   */
  mine(count = 1, options: MineOptions = {}): Promise<Tipset> {
    return this.#enqueue(() => this.#mine(count, options))
  }

  /**
   * Moves the chain's time forward by at least so many seconds: null rounds, then a tipset.
   * @returns the new head
   * @throws DevnetError `KEEPS_CLOCK` where the chain's time is the clock's
   */
  travel(seconds: number): Promise<Tipset> {
    if (keepsClock(this.#pace)) {
      const message =
        'Cannot travel: the chain keeps the clock; start it with --manual, --instant or a shorter block time'
      return Promise.reject(new DevnetError('KEEPS_CLOCK', message))
    }
    const { blockDelaySecs } = this.#deps.view.network
    const epochs = Math.max(1, Math.ceil(seconds / blockDelaySecs))
    return this.mine(1, { nullRounds: epochs - 1 })
  }

  #enqueue<T>(run: () => Promise<T>): Promise<T> {
    return this.#orders.run(() => this.#watched(run))
  }

  /** @param dueMs - when the next epoch is due by the pace alone, monotonic */
  #schedule(dueMs: number): void {
    const { clock, timers } = this.#deps
    const wait = this.#untilTick(dueMs)
    this.#cancel = timers.setTimeout(
      () => {
        if (!this.#running) return
        if (wait > LONGEST_SLEEP_MS) return this.#schedule(dueMs)
        this.#enqueue(() => this.#tick())
          .catch((error: unknown) => this.#failed(error))
          .finally(() => {
            // By the plan, not by when the timer fired: its lateness would add up.
            if (this.#running) this.#schedule(Math.max(dueMs + this.#pace.blockTimeMs, clock.monotonicMs()))
          })
      },
      Math.min(wait, LONGEST_SLEEP_MS),
    )
  }

  #untilTick(dueMs: number): number {
    const { clock, view } = this.#deps
    if (this.#isShared) return this.#untilNextEpoch()
    const head = view.store.head()
    const next = timestampAfter(view.network, firstBlock(head), this.#nextEpoch(head) - head.height) * MS_PER_SEC
    const late = clock.nowMs() - next
    if (keepsClock(this.#pace) && late < CATCH_UP_EPOCHS * this.#pace.blockTimeMs) return Math.max(0, -late)
    return Math.max(0, dueMs - clock.monotonicMs())
  }

  /** Milliseconds until a block of this Unix time, seconds, may be made. */
  #untilTimestamp(timestamp: number): number {
    if (!keepsClock(this.#pace)) return 0
    return Math.max(0, timestamp * MS_PER_SEC - this.#deps.clock.nowMs())
  }

  /** @throws DevnetError `STOPPED` */
  async #reach(timestamp: number): Promise<void> {
    for (let wait = this.#untilTimestamp(timestamp); wait > 0; wait = this.#untilTimestamp(timestamp)) {
      await sleep(this.#deps.timers, Math.min(wait, LONGEST_SLEEP_MS), this.#stopping.signal)
    }
  }

  /** Said once for each reason: the clock may try many times a second. */
  #failed(error: unknown): void {
    // An epoch that was waited for when the chain was stopped: nothing is wrong.
    if (error instanceof DevnetError && error.code === 'STOPPED') return
    const message = errorMessage(error)
    if (message !== this.#failure) this.#deps.log.error('cannot make a block', { message })
    this.#failure = message
  }

  /** After a failure nothing is made, not even tried, before the disk has taken what waits. */
  async #watched<T>(run: () => Promise<T>): Promise<T> {
    const { flush, log } = this.#deps
    if (this.#hasFailed) await flush()
    try {
      const result = await run()
      if (this.#hasFailed) log.info('blocks are made again')
      this.#hasFailed = false
      this.#failure = ''
      return result
    } catch (error) {
      this.#hasFailed ||= !(error instanceof DevnetError)
      throw error
    }
  }

  get #isShared(): boolean {
    return this.#pace.produce !== undefined
  }

  /** Milliseconds since the epoch of genesis began. */
  #age(): number {
    const { clock, view } = this.#deps
    return clock.nowMs() - firstBlock(view.store.genesis()).timestamp * MS_PER_SEC
  }

  /**
   * Others choose what they build on a second after the epoch began: what is made here must be there by then.
   * @see lotus miner/miner.go mine (PropagationDelaySecs)
   */
  #untilNextEpoch(): number {
    const { blockTimeMs } = this.#pace
    const age = this.#age() - blockTimeMs * CLOCKS_SHARE
    return Math.max(1, blockTimeMs - (((age % blockTimeMs) + blockTimeMs) % blockTimeMs))
  }

  /** The epoch of the wall clock. */
  #clockEpoch(): number {
    return Math.floor(this.#age() / this.#pace.blockTimeMs)
  }

  /** An epoch of the wall clock, on the head of that time; none twice, also when clock and head have gone back. */
  async #sharedTick(): Promise<void> {
    const epoch = this.#clockEpoch()
    if (epoch <= this.#lastMade) return
    const base = this.#sharedBase(epoch)
    if (base === undefined) return
    const tipset = await this.#maker.tipsetAt(base, epoch, true)
    if (tipset !== undefined) this.#moveTo(tipset)
  }

  /**
   * What blocks of an epoch are made on. Lotus' miner sends its block the moment the epoch begins: what is made here belongs beside it, or
   * the power of this node would never count.
   * @see lotus miner/miner.go mine (it waits for the block's own time)
   */
  #sharedBase(epoch: ChainEpoch): Tipset | undefined {
    const { store } = this.#deps.view
    const head = store.head()
    if (head.height < epoch) return head
    if (head.height > epoch || epoch <= this.#startedIn) return undefined
    // Made before a start, by a clock that was ahead.
    const isOurs = head.blocks.some((block) => this.producers.some(({ miner }) => miner.equals(block.miner)))
    return isOurs ? undefined : store.parent(head)
  }

  /**
   * Never an epoch in which blocks were made already, also when the head has gone back meanwhile: two blocks of a miner in an
   * epoch are a fault, for which others pass both by. @see lotus chain/gen/slashfilter/slashfilter.go SlashFilter.MinedBlock
   */
  #nextEpoch(base: Tipset): number {
    return Math.max(base.height, this.#lastMade) + 1 + this.#emptyRounds
  }

  /** One epoch by the clock. */
  async #tick(): Promise<void> {
    if (this.#isShared) return this.#sharedTick()
    const { store } = this.#deps.view
    const base = store.head()
    const tipset = await this.#maker.tipsetAt(base, this.#nextEpoch(base), true)
    if (tipset === undefined) {
      this.#emptyRounds++
      return
    }
    this.#moveTo(tipset)
  }

  #moveTo(tipset: Tipset): void {
    this.#emptyRounds = 0
    this.#lastMade = Math.max(this.#lastMade, tipset.height)
    const { adopt, view } = this.#deps
    if (adopt === undefined) view.store.setHead(tipset)
    else adopt(tipset)
  }

  async #mine(count: number, { nullRounds = 0, fork = 0 }: MineOptions): Promise<Tipset> {
    for (const [name, value] of [
      ['count', count],
      ['nullRounds', nullRounds],
      ['fork', fork],
    ] as const) {
      if (!Number.isSafeInteger(value) || value < 0) {
        throw new DevnetError('OPTIONS_INVALID', `Cannot mine: ${name} is ${value}, expected a whole number from 0`)
      }
    }
    if (fork > 0) await this.#fork(fork)
    let skip = nullRounds
    for (let i = 0; i < count; i++) {
      this.#moveTo(await this.#nextTipset(this.#deps.view.store.head(), skip, true))
      skip = 0
    }
    return this.#deps.view.store.head()
  }

  /** Moves the head to a heavier branch off the ancestor `epochs` below it. */
  async #fork(epochs: number): Promise<void> {
    const { edge = allAtHand } = this.#deps
    this.#moveTo(await edge(() => this.#heavierBranch(epochs)))
  }

  async #heavierBranch(epochs: number): Promise<Tipset> {
    const { store } = this.#deps.view
    const head = store.head()
    if (epochs > head.height) {
      throw new DevnetError('FORK_TOO_DEEP', `Cannot fork ${epochs} epochs: the chain has ${head.height}`)
    }
    const kept = store.checkpoint()?.height ?? 0
    if (head.height - epochs < kept) {
      const message = `Cannot fork ${epochs} epochs: the chain up to epoch ${kept} is final, or a checkpoint`
      throw new DevnetError('FORK_TOO_DEEP', message)
    }
    const { view } = this.#deps
    let tip = store.tipsetByHeight(head.height - epochs, head, 'previous')
    // Not in the epoch of the old branch: the same producers on the same parents would make the very same blocks again.
    let skip = store.tipsetByHeight(tip.height + 1, head, 'next').height - tip.height
    do {
      tip = await this.#nextTipset(tip, skip, false)
      skip = 0
    } while (view.weight(tip) <= view.weight(head))
    return tip
  }

  async #nextTipset(base: Tipset, nullRounds: number, hasMessages: boolean): Promise<Tipset> {
    const first = base.height + 1 + nullRounds
    for (let epoch = first; epoch < first + MAX_EMPTY_ROUNDS; epoch++) {
      const tipset = await this.#maker.tipsetAt(base, epoch, hasMessages)
      if (tipset !== undefined) return tipset
    }
    throw new DevnetError('NO_WINNER', `Cannot mine: nobody won in ${MAX_EMPTY_ROUNDS} epochs from ${first}`)
  }
}
