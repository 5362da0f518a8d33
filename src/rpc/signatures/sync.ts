/** Signatures of `Sync…`. */
import type { SyncState } from '../../sync/syncState.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { syncState as syncStateJson } from '../types/sync.ts'

export const syncState: CallSignature<[], SyncState> = callSignature({
  name: 'SyncState',
  perm: 'read',
  summary: 'What the sync workers are doing.',
  params: [],
  result: syncStateJson,
})
