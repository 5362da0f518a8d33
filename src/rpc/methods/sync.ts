/** Methods about synchronisation. */
import { type MethodRow, method } from '../method.ts'
import { syncState } from '../signatures/sync.ts'
import type { SyncState } from '../types/sync.ts'

export interface SyncMethodsDeps {
  readonly state: () => SyncState
}

/** Rows of `Sync…`. */
export function syncMethods({ state }: SyncMethodsDeps): MethodRow[] {
  return [
    method({
      ...syncState,
      handler: () => state(),
    }),
  ]
}
