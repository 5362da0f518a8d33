/**
 * JSON of the state of synchronisation.
 * @see lotus api/api_full.go ActiveSync, SyncState, SyncStateStage
 */
import { type Codec, int, jsonOnly, list, nullable, struct, text, uint } from '../../codec/description.ts'
import type { ActiveSync, SyncState } from '../../sync/syncState.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { tipset } from '../../types/tipset.ts'

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

/** What is fetched and validated now; `VMApplied` counts messages executed since the start. @see lotus api/api_full.go SyncState */
export const syncState: Codec<SyncState> = struct<SyncState>('api.SyncState', [
  ['activeSyncs', 'ActiveSyncs', list(activeSync)],
  ['vmApplied', 'VMApplied', uint],
])
