import type { Cid } from '../../codec/cid.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import { migrateActors } from './migrateActors.ts'

/** To actors v18 (FireHorse): code only. @see go-state-types builtin/v18/migration/top.go; lotus UpgradeActorsV18 */
export function migrateToNv28(store: Blockstore, root: Cid, newManifest: Cid): Cid {
  return migrateActors(store, root, newManifest)
}
