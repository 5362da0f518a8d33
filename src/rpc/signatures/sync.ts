/** Signatures of `Sync…`. */
import { text } from '../../codec/description.ts'
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

export const syncPresumed: CallSignature<[], string> = callSignature({
  name: 'SyncPresumed',
  perm: 'read',
  summary: 'What this node takes for granted of storage proofs, for lack of keys; empty: nothing.',
  params: [],
  result: text,
})
