/** Methods about synchronisation. */
import { type MethodRow, method } from '../method.ts'
import { type SyncState, syncState } from '../types/sync.ts'

export interface SyncMethodsDeps {
  readonly state: () => SyncState
}

/** Rows of `Sync…`. */
export function syncMethods({ state }: SyncMethodsDeps): MethodRow[] {
  return [
    method({
      name: 'SyncState',
      perm: 'read',
      summary: 'What the sync workers are doing.',
      params: [],
      result: syncState,
      handler: () => state(),
    }),
  ]
}
