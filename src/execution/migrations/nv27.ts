import type { Cid } from '../../codec/cid.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import { migrateActors } from './migrateActors.ts'

/** To actors v17 (GoldenWeek): code only. @see go-state-types builtin/v17/migration/top.go; lotus UpgradeActorsV17 */
export function migrateToNv27(store: Blockstore, root: Cid, newManifest: Cid): Cid {
  return migrateActors(store, root, newManifest)
}
