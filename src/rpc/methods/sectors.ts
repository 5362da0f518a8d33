/** Methods about single sectors, and about what sectors and miners cost. */
import type { ChainView } from '../../chain/chainView.ts'
import { loadMiner, type MinerActor } from '../../chain/queries/minerActor.ts'
import { PledgePrices } from '../../execution/pledgePrices.ts'
import type { SectorNumber } from '../../state/scalars.ts'
import type { SectorPreCommitOnChainInfo } from '../../state/sector.ts'
import type { Address } from '../../types/address.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
import {
  stateAllMinerFaults,
  stateMinerCreationDeposit,
  stateMinerInitialPledgeCollateral,
  stateMinerInitialPledgeForSector,
  stateMinerPreCommitDepositForPower,
  stateSectorExpiration,
  stateSectorGetInfo,
  stateSectorPartition,
  stateSectorPreCommitInfo,
  stateSectorPreCommitInfoV0,
} from '../signatures/sectors.ts'
import { loadTipset } from './chain.ts'

/** Rows about single sectors and their price. */
export function sectorMethods(view: ChainView): MethodRow[] {
  return [...placeMethods(view), ...priceMethods(view)]
}

function placeMethods(view: ChainView): MethodRow[] {
  const minerAt = (who: Address, key: TipsetKey): MinerActor =>
    loadMiner(view, view.stateBefore(loadTipset(view, key)), who)
  const preCommit = (who: Address, number: SectorNumber, key: TipsetKey): SectorPreCommitOnChainInfo | null =>
    minerAt(who, key).preCommit(number) ?? null
  return [
    method({
      ...stateSectorGetInfo,
      handler: (who, number, key) => minerAt(who, key).sector(number) ?? null,
    }),
    method({
      ...stateSectorPreCommitInfo,
      handler: preCommit,
    }),
    method({
      ...stateSectorPreCommitInfoV0,
      handler: (who, number, key) => {
        const found = preCommit(who, number, key)
        if (found === null) throw new RpcError('FAILED', 'precommit info does not exist')
        return found
      },
    }),
    method({
      ...stateSectorExpiration,
      handler: (who, number, key, { walk }) => walk(minerAt(who, key).findExpiration(number)),
    }),
    method({
      ...stateSectorPartition,
      handler: (who, number, key, { walk }) => walk(minerAt(who, key).findSector(number)),
    }),
    method({
      ...stateAllMinerFaults,
      handler: () => {
        // Lotus' own answer since 2020, with its text.
        throw new RpcError('FAILED', 'fixme')
      },
    }),
  ]
}

function priceMethods(view: ChainView): MethodRow[] {
  const prices = (key: TipsetKey): PledgePrices => new PledgePrices(view, loadTipset(view, key))
  return [
    method({
      ...stateMinerPreCommitDepositForPower,
      handler: (who, sector, key) => prices(key).preCommitDeposit(who, sector),
    }),
    method({
      ...stateMinerInitialPledgeCollateral,
      handler: (who, sector, key) => prices(key).initialPledgeOf(who, sector),
    }),
    method({
      ...stateMinerInitialPledgeForSector,
      handler: (duration, size, verified, key) => {
        if (duration <= 0) throw new RpcError('FAILED', 'sector duration must greater than 0')
        if (size === 0n) throw new RpcError('FAILED', 'sector size must be non-zero')
        if (verified > size) {
          throw new RpcError('FAILED', 'verified size must be less than or equal to sector size')
        }
        return prices(key).initialPledgeForSector(duration, size, verified)
      },
    }),
    method({
      ...stateMinerCreationDeposit,
      handler: (key) => prices(key).creationDeposit(),
    }),
  ]
}
