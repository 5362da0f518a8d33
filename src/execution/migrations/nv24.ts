/**
 * To actors v15 (TukTuk): the power actor learns when the new pledge formula sets in and how long it takes. FIP-0081.
 * @see go-state-types builtin/v15/migration/power.go; lotus UpgradeActorsV15
 */
import type { Cid } from '../../codec/cid.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import { migrateActors } from './migrateActors.ts'
import { item, rewriteState } from './rewriteTuple.ts'

/** Fields of the power actor's state up to v14. */
const POWER_FIELDS = 15
/** The new fields stand behind MinerAboveMinPowerCount. */
const RAMP_INDEX = 11

/** @param rampStart - height of the upgrade. @param rampDuration - epochs */
export function migrateToNv24(
  store: Blockstore,
  root: Cid,
  newManifest: Cid,
  rampStart: ChainEpoch,
  rampDuration: ChainEpoch,
): Cid {
  return migrateActors(store, root, newManifest, {
    storagepower: (blocks, head) =>
      rewriteState(blocks, head, POWER_FIELDS, (fields) => [
        ...fields.slice(0, RAMP_INDEX),
        item((writer) => writer.int(rampStart)),
        item((writer) => writer.uint(rampDuration)),
        ...fields.slice(RAMP_INDEX),
      ]),
  })
}
