/**
 * Whether a node lives, and whether it can be relied on. Rules by Lotus (the head is less than five epochs behind the clock; the
 * chain moved within five minutes) and Forest (it has peers, its sync has not failed), and ours: the store can be written. Each is
 * told with its reason.
 * @see lotus node/health.go NewLiveHandler, NewReadyHandler; forest src/health/endpoints.rs
 */
import type { Clock, KeyValueStore } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import { SYNC_STAGE, type SyncState } from '../sync/syncState.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock } from '../types/tipset.ts'

/** One rule. */
export interface HealthCheck {
  readonly ok: boolean
  readonly text: string
}

/** What connected peers told of their heads. */
export interface ToldHeads {
  /** How many have. */
  readonly peers: number
  /** The highest that is not here yet; undefined: nothing is awaited. */
  readonly awaited: ChainEpoch | undefined
}

/** What {@link Health} looks at. */
export interface HealthDeps {
  readonly view: ChainView
  /** Where head, pool and nonces are kept. */
  readonly meta: Pick<KeyValueStore, 'whyUnwritable'>
  readonly clock: Clock
  readonly sync: () => SyncState
  /** Connected peers; undefined: the node follows nobody. */
  readonly peers: (() => number) | undefined
  /** Undefined where peers do not tell. */
  readonly told?: (() => ToldHeads) | undefined
  /** Whether the chain goes on at all: not in an opened archive. */
  readonly moves: boolean
  /** Whether blocks come by the clock: not on local chains, which may be complete far behind it. */
  readonly byClock: boolean
  /** Whether blocks come from peers: not where the node makes them itself. */
  readonly follows: boolean
  /** Whether it makes them at their timestamps, never before. */
  readonly waitsForClock?: boolean
  /** Epochs that a head may lie behind the clock. */
  readonly tolerance?: number
  /** How a database is that the chain is written into. */
  readonly index?: (() => HealthCheck) | undefined
}

/** @see lotus node/health.go heightTolerance */
const EPOCHS_BEHIND = 5
/** @see lotus node/health.go reset, minutes */
const STILL_MS = 5 * 60_000
const MS_PER_SEC = 1000
/** A clock that has gone so much further than time, or less far, was set, ms. Servers of time correct it in smaller steps. */
const CLOCK_SET_MS = 30_000

/** Watches the head from its making on, so that a chain that stands still is noticed. */
export class Health {
  readonly #deps: HealthDeps
  readonly #unsubscribe: () => void
  /** From monotonic time to the clock's at the start, ms. */
  readonly #offsetMs: number
  #movedMs: number
  #seen: string

  constructor(deps: HealthDeps) {
    this.#deps = deps
    this.#movedMs = deps.clock.monotonicMs()
    this.#offsetMs = deps.clock.nowMs() - this.#movedMs
    this.#seen = this.#progress()
    this.#unsubscribe = deps.view.store.onHeadChange(() => {
      this.#movedMs = deps.clock.monotonicMs()
    })
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Epochs from the head to the clock; 0 where the chain does not keep to it. */
  epochsBehind(): number {
    const { view, clock, byClock } = this.#deps
    if (!byClock) return 0
    const { timestamp } = firstBlock(view.store.head())
    return Math.max(0, Math.floor((clock.nowMs() / MS_PER_SEC - timestamp) / view.network.blockDelaySecs))
  }

  /** How much further the clock has gone than time since the start, ms; 0 where it was not set. */
  clockSetMs(): number {
    const { clock } = this.#deps
    const ms = clock.nowMs() - clock.monotonicMs() - this.#offsetMs
    return Math.abs(ms) < CLOCK_SET_MS ? 0 : ms
  }

  live(): HealthCheck[] {
    const { clock, byClock, moves } = this.#deps
    if (!moves || !byClock) return [{ ok: true, text: 'the process answers' }]
    this.#notice()
    const still = clock.monotonicMs() - this.#movedMs
    return [
      still < STILL_MS
        ? { ok: true, text: `the chain or its sync moved ${seconds(still)} ago` }
        : { ok: false, text: `neither the head nor a sync has moved for ${seconds(still)}` },
    ]
  }

  ready(): HealthCheck[] {
    const reason = this.#deps.meta.whyUnwritable?.()
    // Without a disk no block and no message is taken, whatever else is well.
    const store = reason === undefined ? [] : [{ ok: false, text: reason }]
    const { index } = this.#deps
    return [...store, ...this.#chainChecks(), ...(index === undefined ? [] : [index()])]
  }

  #chainChecks(): HealthCheck[] {
    const { view, peers, moves, byClock, follows, tolerance = EPOCHS_BEHIND } = this.#deps
    const { height } = view.store.head()
    if (!moves) return [{ ok: true, text: `an archive, which stands still at epoch ${height}` }]
    const checks = [byClock ? this.#headCheck(height, tolerance) : this.#localHeadCheck(height), ...this.#clockChecks()]
    if (peers !== undefined && follows) {
      const count = peers()
      checks.push({ ok: count > 0, text: count > 0 ? `${count} peers` : 'no peer is connected' })
    }
    checks.push(this.#syncCheck(byClock ? tolerance : 1))
    return checks
  }

  #headCheck(height: number, tolerance: number): HealthCheck {
    const behind = this.epochsBehind()
    return { ok: behind < tolerance, text: `head at epoch ${height}, ${behind} behind the clock` }
  }

  /** Of a chain without a clock nothing but what peers tell says that there is more of it. */
  #localHeadCheck(height: ChainEpoch): HealthCheck {
    const { follows, told } = this.#deps
    const text = `head at epoch ${height}`
    if (!follows) return { ok: true, text }
    const { peers, awaited } = told?.() ?? { peers: height, awaited: undefined }
    if (peers === 0) return { ok: false, text: `${text}: no peer has told of its chain yet` }
    if (awaited === undefined || awaited - height <= 1) return { ok: true, text }
    return { ok: false, text: `${text}: a peer tells of one at epoch ${awaited}` }
  }

  /** A clock that is behind makes the node refuse all blocks; one that is before them is told by the head, and by having been set. */
  #clockChecks(): HealthCheck[] {
    const { view, clock, byClock, follows, waitsForClock = false } = this.#deps
    const setMs = this.clockSetMs()
    const text = setMs === 0 ? '' : clockText(setMs)
    const aheadMs = firstBlock(view.store.head()).timestamp * MS_PER_SEC - clock.nowMs()
    // Local chains run before the clock as they like.
    if (aheadMs > CLOCK_SET_MS && (byClock || waitsForClock || (follows && setMs < 0))) {
      const what = waitsForClock ? 'no block is made until it is there' : 'blocks are refused until it is right'
      const known = `the head is ${seconds(aheadMs)} ahead of the clock: ${what}`
      return [{ ok: false, text: text === '' ? known : `${known}; ${text}` }]
    }
    return text === '' ? [] : [{ ok: true, text }]
  }

  /** A sync under way to a head that is further than a node in sync ever is, or one that failed last. */
  #syncCheck(tolerance: number): HealthCheck {
    const head = this.#deps.view.store.head().height
    const { activeSyncs } = this.#deps.sync()
    const running = activeSyncs.filter(
      ({ stage }) => stage !== SYNC_STAGE.idle && stage !== SYNC_STAGE.complete && stage !== SYNC_STAGE.error,
    )
    const far = running.find(({ target }) => target !== null && target.height - head > tolerance)
    if (far?.target !== undefined && far.target !== null) {
      return { ok: false, text: `syncing: ${far.target.height - head} epochs to go, to ${far.target.height}` }
    }
    const last = activeSyncs.at(-1)
    const hasFailed = running.length === 0 && last?.stage === SYNC_STAGE.error
    // Where the clock does not say how far the head is behind, the target does.
    const isFar = !this.#deps.byClock && (last?.target?.height ?? 0) - head > tolerance
    if (hasFailed && (isFar || activeSyncs.every(({ stage }) => stage !== SYNC_STAGE.complete))) {
      return { ok: false, text: `the last sync failed: ${last.message}` }
    }
    const waiting = activeSyncs.find(({ stage, message }) => stage === SYNC_STAGE.idle && message !== '')
    if (waiting !== undefined) return { ok: false, text: waiting.message }
    // One that makes its own chain is always at its own head.
    const isAlone = activeSyncs.every(({ base, target }) => base === target)
    return { ok: true, text: isAlone ? 'in sync: nobody told of a heavier chain' : 'in sync with what peers told' }
  }

  /** A long sync moves no head, but its own height. */
  #notice(): void {
    const seen = this.#progress()
    if (seen !== this.#seen) this.#movedMs = this.#deps.clock.monotonicMs()
    this.#seen = seen
  }

  #progress(): string {
    const { activeSyncs, vmApplied } = this.#deps.sync()
    return `${vmApplied} ${activeSyncs.map(({ workerId, stage, height }) => `${workerId}:${stage}:${height}`).join(' ')}`
  }
}

/** That the clock was set. @param ms - how far; negative: back */
export function clockText(ms: number): string {
  return `the clock was set ${ms > 0 ? 'forward' : 'back'} by ${seconds(Math.abs(ms))} since the start`
}

function seconds(ms: number): string {
  return `${Math.round(ms / MS_PER_SEC)} s`
}
