/**
 * What a producer needs to know to try for a block.
 * @see lotus chain/stmgr/actors.go MinerGetBaseInfo, GetSectorsForWinningPoSt, MinerEligibleToMine
 */
import { MAX_EPOCHS_AHEAD } from '../base/bounds.ts'
import { accountKey, tryActorOf } from '../chain/actorLookup.ts'
import type { ChainView } from '../chain/chainView.ts'
import { assertEpochsAhead } from '../chain/epochsAhead.ts'
import { ChainError } from '../chain/errors.ts'
import { minerOf } from '../chain/queries/minerActor.ts'
import { minerPower } from '../chain/queries/minerPower.ts'
import { latestBeaconEntry } from '../chain/randomness.ts'
import type { Cid } from '../codec/cid.ts'
import type { SectorOnChainInfo } from '../state/sector.ts'
import type { Address } from '../types/address.ts'
import type { BeaconEntry } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { mockBeaconEntries } from './beacon.ts'
import { winningPoStRandomness } from './election.ts'
import { isEligible } from './eligibility.ts'
import { ConsensusError } from './errors.ts'
import { lookbackFor } from './lookback.ts'
import { winningSectors } from './winningSectors.ts'

/** Power, keys, sectors and beacon entries for a block of one epoch. */
export interface MiningBaseInfo {
  /** Quality-adjusted, at the lookback. */
  readonly minerPower: bigint
  readonly networkPower: bigint
  /** What the block must prove. */
  readonly sectors: SectorOnChainInfo[]
  readonly workerKey: Address
  /** Bytes. */
  readonly sectorSize: number
  readonly prevBeaconEntry: BeaconEntry
  readonly beaconEntries: BeaconEntry[]
  readonly eligibleForMining: boolean
}

/**
 * @param base - the parent tipset
 * @param epoch - of the block
 * @param stateAfter - the root that executing a tipset leaves; asked only near genesis
 * @returns null for a miner that was not there at the lookback, or had nothing to prove
 * @throws ChainError `TOO_FAR_AHEAD`; `ACTOR_NOT_FOUND` for a miner that is not there now either; ConsensusError `NOT_SUPPORTED`
 */
export async function miningBase(
  view: ChainView,
  base: Tipset,
  epoch: ChainEpoch,
  miner: Address,
  stateAfter: (tipset: Tipset) => Promise<Cid>,
): Promise<MiningBaseInfo | null> {
  assertEpochsAhead(base, epoch, MAX_EPOCHS_AHEAD)
  const prevBeaconEntry = latestBeaconEntry(view.store, base)
  const beaconEntries = entriesFor(view, epoch, base.height)
  const lookback = lookbackFor(view.store, view.network, base, epoch)
  const tree = view.stateTree(lookback.stateRoot ?? (await stateAfter(lookback.tipset)))
  const found = tryActorOf(tree, miner)
  if (found === undefined) {
    if (tryActorOf(view.stateBefore(base), miner) !== undefined) return null
    throw new ChainError('ACTOR_NOT_FOUND', 'loading miner in current state: actor not found')
  }
  const actor = minerOf(view, found)
  const beacon = (beaconEntries.at(-1) ?? prevBeaconEntry).data
  const randomness = winningPoStRandomness(beacon, epoch, miner)
  const sectors = winningSectors(view, actor, view.networkVersion(epoch), miner, randomness)
  if (sectors.length === 0) return null
  const power = minerPower(view, tree, miner)
  const info = actor.info()
  return {
    minerPower: power.minerPower.qualityAdjPower,
    networkPower: power.totalPower.qualityAdjPower,
    sectors,
    workerKey: accountKey(view, view.stateBefore(base), info.worker),
    sectorSize: info.sectorSize,
    prevBeaconEntry,
    beaconEntries,
    eligibleForMining: isEligible(view, base, lookback.tipset, miner),
  }
}

function entriesFor(view: ChainView, epoch: ChainEpoch, parentEpoch: ChainEpoch): BeaconEntry[] {
  if (view.network.beacon.kind === 'mock') return mockBeaconEntries(epoch, parentEpoch)
  throw new ConsensusError('NOT_SUPPORTED', 'not supported: producing blocks with entries of a drand beacon')
}
