/** Methods about single sectors, and about what sectors and miners cost. */
import type { ChainView } from '../../chain/chainView.ts'
import { loadMiner, type MinerActor } from '../../chain/queries/minerActor.ts'
import { PledgePrices } from '../../execution/pledgePrices.ts'
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
  const minerAt = (who: Address, one: TipsetKey): MinerActor =>
    loadMiner(view, view.stateBefore(loadTipset(view, one)), who)
  const preCommit = (who: Address, number: number, one: TipsetKey): SectorPreCommitOnChainInfo | null =>
    minerAt(who, one).preCommit(number) ?? null
  return [
    method({
      ...stateSectorGetInfo,
      handler: (who, number, one) => minerAt(who, one).sector(number) ?? null,
    }),
    method({
      ...stateSectorPreCommitInfo,
      handler: preCommit,
    }),
    method({
      ...stateSectorPreCommitInfoV0,
      handler: (who, number, one) => {
        const found = preCommit(who, number, one)
        if (found === null) throw new RpcError('FAILED', 'precommit info does not exist')
        return found
      },
    }),
    method({
      ...stateSectorExpiration,
      handler: (who, number, one) => minerAt(who, one).expiration(number),
    }),
    method({
      ...stateSectorPartition,
      handler: (who, number, one) => minerAt(who, one).findSector(number),
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
  const prices = (one: TipsetKey): PledgePrices => new PledgePrices(view, loadTipset(view, one))
  return [
    method({
      ...stateMinerPreCommitDepositForPower,
      handler: (who, sector, one) => prices(one).preCommitDeposit(who, sector),
    }),
    method({
      ...stateMinerInitialPledgeCollateral,
      handler: (who, sector, one) => prices(one).initialPledgeOf(who, sector),
    }),
    method({
      ...stateMinerInitialPledgeForSector,
      handler: (duration, size, verified, one) => {
        if (duration <= 0) throw new RpcError('FAILED', 'sector duration must greater than 0')
        if (size === 0n) throw new RpcError('FAILED', 'sector size must be non-zero')
        if (verified > size) {
          throw new RpcError('FAILED', 'verified size must be less than or equal to sector size')
        }
        return prices(one).initialPledgeForSector(duration, size, verified)
      },
    }),
    method({
      ...stateMinerCreationDeposit,
      handler: (one) => prices(one).creationDeposit(),
    }),
  ]
}
