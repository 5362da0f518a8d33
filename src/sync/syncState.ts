/**
 * What sync workers are doing, by Lotus' names and numbers.
 *
 *   idle -> header sync <-> persisting headers -> message sync <-> fetching messages -> complete
 *   any but complete -> error
 *
 * @see lotus chain/syncstate.go SyncerState; api/api_full.go ActiveSync, SyncStateStage
 */
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'

/** Stages by Lotus' numbers. */
export const SYNC_STAGE = {
  idle: 0,
  headers: 1,
  persistHeaders: 2,
  messages: 3,
  complete: 4,
  error: 5,
  fetchingMessages: 6,
} as const

/** A number of Lotus' `api.SyncStateStage`. */
export type SyncStage = (typeof SYNC_STAGE)[keyof typeof SYNC_STAGE]

/** One worker, running or ended. */
export interface ActiveSync {
  readonly workerId: number
  /** Our head when it began. */
  readonly base: Tipset | null
  readonly target: Tipset | null
  /** One of {@link SYNC_STAGE}. */
  readonly stage: number
  readonly height: ChainEpoch
  /** Unix milliseconds; undefined: not yet. */
  readonly startMs: number | undefined
  readonly endMs: number | undefined
  /** What went wrong, in stage error. */
  readonly message: string
}

/** What `SyncState` answers. */
export interface SyncState {
  readonly activeSyncs: ActiveSync[]
  /** Messages that were applied (by a follower that does not execute: checked) since the node started. */
  readonly vmApplied: number
}

/** One worker's record. */
export class SyncProgress {
  readonly workerId: number
  readonly #nowMs: () => number
  #state: ActiveSync

  constructor(workerId: number, nowMs: () => number) {
    this.workerId = workerId
    this.#nowMs = nowMs
    const none = { base: null, target: null, startMs: undefined, endMs: undefined }
    this.#state = { workerId, ...none, stage: SYNC_STAGE.idle, height: 0, message: '' }
  }

  /** any -> header sync */
  begin(base: Tipset, target: Tipset): void {
    const times = { startMs: this.#nowMs(), endMs: undefined }
    const { workerId } = this
    this.#state = { workerId, base, target, ...times, stage: SYNC_STAGE.headers, height: 0, message: '' }
  }

  stage(stage: SyncStage): void {
    const endMs = stage === SYNC_STAGE.complete ? this.#nowMs() : this.#state.endMs
    this.#state = { ...this.#state, stage, endMs }
  }

  height(height: ChainEpoch): void {
    this.#state = { ...this.#state, height }
  }

  /** any -> error */
  fail(message: string): void {
    this.#state = { ...this.#state, stage: SYNC_STAGE.error, message, endMs: this.#nowMs() }
  }

  get state(): ActiveSync {
    return this.#state
  }
}
