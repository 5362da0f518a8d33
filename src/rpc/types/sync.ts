/**
 * JSON of the state of synchronisation.
 * @see lotus api/types.go ActiveSync, SyncState, SyncStateStage
 */
import { type Codec, int, jsonOnly, list, nullable, struct, text, uint } from '../../codec/description.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type Tipset, tipset } from '../../types/tipset.ts'

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

/** One worker, running or ended. */
export interface ActiveSync {
  readonly workerId: number
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

export interface SyncState {
  readonly activeSyncs: ActiveSync[]
  /** Messages that the machine has applied since the node started. */
  readonly vmApplied: number
}

/** Go's zero time. */
const ZERO_TIME = '0001-01-01T00:00:00Z'

/** RFC 3339; undefined is Go's zero time. */
const time: Codec<number | undefined> = jsonOnly<number | undefined>(
  'time.Time',
  (value) => (value === undefined ? ZERO_TIME : new Date(value).toISOString()),
  (json, context) => {
    const given = text.fromJson(json, context)
    return given === '' || given.startsWith('0001-') ? undefined : Date.parse(given)
  },
  { type: 'string', format: 'date-time' },
)

const activeSync: Codec<ActiveSync> = struct<ActiveSync>('api.ActiveSync', [
  ['workerId', 'WorkerID', uint],
  ['base', 'Base', nullable(tipset)],
  ['target', 'Target', nullable(tipset)],
  ['stage', 'Stage', int],
  ['height', 'Height', chainEpoch],
  ['startMs', 'Start', time],
  ['endMs', 'End', time],
  ['message', 'Message', text],
])

export const syncState: Codec<SyncState> = struct<SyncState>('api.SyncState', [
  ['activeSyncs', 'ActiveSyncs', list(activeSync)],
  ['vmApplied', 'VMApplied', uint],
])
