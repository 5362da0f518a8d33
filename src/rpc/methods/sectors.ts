/** Methods about single sectors, and about what sectors and miners cost. */
import type { ChainView } from '../../chain/chainView.ts'
import { loadMiner, type MinerActor } from '../../chain/queries/minerActor.ts'
import { int, list, named, nullable, u64 } from '../../codec/description.ts'
import { PledgePrices } from '../../execution/pledgePrices.ts'
import { sectorNumber } from '../../state/scalars.ts'
import {
  type SectorPreCommitOnChainInfo,
  sectorOnChainInfo,
  sectorPreCommitInfoAt,
  sectorPreCommitOnChainInfo,
} from '../../state/sector.ts'
import { type Address, address } from '../../types/address.ts'
import { chainEpoch, tokenAmount } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, param } from '../method.ts'
import { apiFault, apiSectorExpiration, apiSectorLocation } from '../types/miner.ts'
import { loadTipset } from './chain.ts'

const minerParam = param('miner', address)
const sectorParam = param('sectorNumber', sectorNumber)
const preCommitParam = param('sectorPreCommitInfo', sectorPreCommitInfoAt(18))
const key = param('tipsetKey', tipsetKey)

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
      name: 'StateSectorGetInfo',
      perm: 'read',
      summary: "A sector of a miner's; null when there is none of that number.",
      params: [minerParam, sectorParam, key],
      result: nullable(sectorOnChainInfo),
      handler: (who, number, one) => minerAt(who, one).sector(number) ?? null,
    }),
    method({
      name: 'StateSectorPreCommitInfo',
      perm: 'read',
      versions: ['v1'],
      summary: 'What a miner has pre-committed for a sector; null when nothing.',
      params: [minerParam, sectorParam, key],
      result: nullable(sectorPreCommitOnChainInfo),
      handler: preCommit,
    }),
    method({
      name: 'StateSectorPreCommitInfo',
      perm: 'read',
      versions: ['v0'],
      summary: 'What a miner has pre-committed for a sector.',
      params: [minerParam, sectorParam, key],
      result: sectorPreCommitOnChainInfo,
      handler: (who, number, one) => {
        const found = preCommit(who, number, one)
        if (found === null) throw new RpcError('FAILED', 'precommit info does not exist')
        return found
      },
    }),
    method({
      name: 'StateSectorExpiration',
      perm: 'read',
      summary: 'When a sector expires: on time, or early because it is faulty.',
      params: [minerParam, sectorParam, key],
      result: nullable(apiSectorExpiration),
      handler: (who, number, one) => minerAt(who, one).expiration(number),
    }),
    method({
      name: 'StateSectorPartition',
      perm: 'read',
      summary: 'The deadline and the partition that a sector is proven in.',
      params: [minerParam, sectorParam, key],
      result: nullable(apiSectorLocation),
      handler: (who, number, one) => minerAt(who, one).findSector(number),
    }),
    method({
      name: 'StateAllMinerFaults',
      perm: 'read',
      summary: 'Not answered, as in Lotus: ask StateMinerFaults of each miner.',
      params: [param('lookback', chainEpoch), key],
      result: list(apiFault),
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
      name: 'StateMinerPreCommitDepositForPower',
      perm: 'read',
      summary: 'Deposit for a pre-commitment, attoFIL, with a margin of a tenth.',
      params: [minerParam, preCommitParam, key],
      result: tokenAmount,
      handler: (who, sector, one) => prices(one).preCommitDeposit(who, sector),
    }),
    method({
      name: 'StateMinerInitialPledgeCollateral',
      perm: 'read',
      summary: 'Pledge for a pre-committed sector, attoFIL, with a margin of a tenth.',
      params: [minerParam, preCommitParam, key],
      result: tokenAmount,
      handler: (who, sector, one) => prices(one).initialPledgeOf(who, sector),
    }),
    method({
      name: 'StateMinerInitialPledgeForSector',
      perm: 'read',
      versions: ['v1'],
      summary: 'Pledge for a sector of a size and duration, attoFIL, with a margin of a tenth.',
      params: [
        param('sectorDuration', named(int, 'abi.ChainEpoch')),
        param('sectorSize', named(u64, 'abi.SectorSize')),
        param('verifiedSize', u64),
        key,
      ],
      result: tokenAmount,
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
      name: 'StateMinerCreationDeposit',
      perm: 'read',
      versions: ['v1'],
      summary: 'What a new miner has to lock, attoFIL.',
      params: [key],
      result: tokenAmount,
      handler: (one) => prices(one).creationDeposit(),
    }),
  ]
}
