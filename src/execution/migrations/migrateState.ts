/**
 * Which migration belongs to an epoch, and its run.
 * @see lotus chain/stmgr/forks.go HandleStateForks; chain/consensus/filcns/upgrades.go DefaultUpgradeSchedule
 */

import { ChainError } from '../../chain/errors.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import { type Network, type Upgrade, upgradeHeight } from '../../networks/network.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import { migrateToNv24 } from './nv24.ts'
import { migrateToNv25 } from './nv25.ts'
import { migrateToNv27 } from './nv27.ts'
import { migrateToNv28 } from './nv28.ts'

type Migration = (store: Blockstore, root: Cid, manifest: Cid, network: Network, epoch: ChainEpoch) => Cid

/** By the reference's own names. nv 26 changes no state. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  UpgradeActorsV15: (store, root, manifest, network, epoch) =>
    migrateToNv24(store, root, manifest, epoch, network.protocol.tuktukPowerRampDurationEpochs),
  UpgradeActorsV16: migrateToNv25,
  UpgradeActorsV17: migrateToNv27,
  UpgradeActorsV18: migrateToNv28,
}

/** The upgrades whose migration runs on the state of `epoch`. */
function migrationsAt(network: Network, epoch: ChainEpoch): Upgrade[] {
  return network.upgrades.filter((upgrade) => upgrade.height === epoch && upgrade.migration !== null)
}

function refused(upgrade: Upgrade, why: string): ChainError {
  return new ChainError(
    'MIGRATION_NOT_SUPPORTED',
    `not supported: the state migration of ${upgrade.name} (epoch ${upgrade.height}): ${why}`,
    { upgrade: upgrade.name, height: upgrade.height },
  )
}

/**
 * Runs the migrations registered at `epoch`, if any.
 * @param root - the state that `epoch` left
 * @param store - has the manifest of the new actors (their bundle); written to
 * @returns the migrated root, or `root` itself
 * @throws ChainError `MIGRATION_NOT_SUPPORTED`, `INVALID_STATE`; BlockMissing
 */
export function migrateState(network: Network, store: Blockstore, root: Cid, epoch: ChainEpoch): Cid {
  // Genesis and what lies before it already has the state of its version.
  if (epoch < 0) return root
  let state = root
  for (const upgrade of migrationsAt(network, epoch)) {
    const run = MIGRATIONS[upgrade.migration ?? '']
    if (run === undefined) throw refused(upgrade, 'expected one of the network versions 24 to 28')
    // Calibnet went to a faulty v16 first and had it replaced at TockFix.
    if (upgrade.networkVersion === 25 && (upgradeHeight(network, 'TockFix') ?? -1) > 0) {
      throw refused(upgrade, "the network's first bundle of actors v16 was replaced")
    }
    const manifest = network.manifests.find(({ actorsVersion }) => actorsVersion === upgrade.actorsVersion)
    if (manifest === undefined) throw refused(upgrade, `no manifest of actors v${upgrade.actorsVersion} is known`)
    state = run(store, state, manifest.manifestCid, network, epoch)
  }
  return state
}
