/** Signatures: sectors. */
import type { SectorExpiration, SectorLocation } from '../../chain/queries/minerActor.ts'
import { int, list, nullable, u64 } from '../../codec/description.ts'
import { named } from '../../codec/goJson.ts'
import { type SectorNumber, sectorNumber } from '../../state/scalars.ts'
import {
  type SectorOnChainInfo,
  type SectorPreCommitOnChainInfo,
  sectorOnChainInfo,
  sectorPreCommitOnChainInfo,
} from '../../state/sector.ts'
import { type Address, address } from '../../types/address.ts'
import { chainEpoch, tokenAmount } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import {
  type ApiFault,
  type AskedPreCommit,
  apiFault,
  apiSectorExpiration,
  apiSectorLocation,
  askedPreCommit,
} from '../types/miner.ts'

const minerParam = param('miner', address)

const sectorParam = param('sectorNumber', sectorNumber)

const preCommitParam = param('sectorPreCommitInfo', askedPreCommit)

const key = param('tipsetKey', tipsetKey)

export const stateSectorGetInfo: CallSignature<
  readonly [Param<Address>, Param<SectorNumber>, Param<TipsetKey>],
  SectorOnChainInfo | null
> = callSignature({
  name: 'StateSectorGetInfo',
  perm: 'read',
  summary: "A sector of a miner's; null when there is none of that number.",
  params: [minerParam, sectorParam, key],
  result: nullable(sectorOnChainInfo),
})

export const stateSectorPreCommitInfo: CallSignature<
  readonly [Param<Address>, Param<SectorNumber>, Param<TipsetKey>],
  SectorPreCommitOnChainInfo | null
> = callSignature({
  name: 'StateSectorPreCommitInfo',
  perm: 'read',
  versions: ['v1'],
  summary: 'What a miner has pre-committed for a sector; null when nothing.',
  params: [minerParam, sectorParam, key],
  result: nullable(sectorPreCommitOnChainInfo),
})

export const stateSectorPreCommitInfoV0: CallSignature<
  readonly [Param<Address>, Param<SectorNumber>, Param<TipsetKey>],
  SectorPreCommitOnChainInfo
> = callSignature({
  name: 'StateSectorPreCommitInfo',
  perm: 'read',
  versions: ['v0'],
  summary: 'What a miner has pre-committed for a sector.',
  params: [minerParam, sectorParam, key],
  result: sectorPreCommitOnChainInfo,
})

export const stateSectorExpiration: CallSignature<
  readonly [Param<Address>, Param<SectorNumber>, Param<TipsetKey>],
  SectorExpiration | null
> = callSignature({
  name: 'StateSectorExpiration',
  cost: 'scan',
  perm: 'read',
  summary: 'When a sector expires: on time, or early because it is faulty.',
  params: [minerParam, sectorParam, key],
  result: nullable(apiSectorExpiration),
})

export const stateSectorPartition: CallSignature<
  readonly [Param<Address>, Param<SectorNumber>, Param<TipsetKey>],
  SectorLocation | null
> = callSignature({
  name: 'StateSectorPartition',
  cost: 'scan',
  perm: 'read',
  summary: 'The deadline and the partition that a sector is proven in.',
  params: [minerParam, sectorParam, key],
  result: nullable(apiSectorLocation),
})

export const stateAllMinerFaults: CallSignature<readonly [Param<number>, Param<TipsetKey>], ApiFault[]> = callSignature(
  {
    name: 'StateAllMinerFaults',
    cost: 'scan',
    perm: 'read',
    summary: 'Not answered, as in Lotus: ask StateMinerFaults of each miner.',
    params: [param('lookback', chainEpoch), key],
    result: list(apiFault),
  },
)

export const stateMinerPreCommitDepositForPower: CallSignature<
  readonly [Param<Address>, Param<AskedPreCommit>, Param<TipsetKey>],
  bigint
> = callSignature({
  name: 'StateMinerPreCommitDepositForPower',
  perm: 'read',
  summary: 'Deposit for a pre-commitment, attoFIL, with a margin of a tenth.',
  params: [minerParam, preCommitParam, key],
  result: tokenAmount,
})

export const stateMinerInitialPledgeCollateral: CallSignature<
  readonly [Param<Address>, Param<AskedPreCommit>, Param<TipsetKey>],
  bigint
> = callSignature({
  name: 'StateMinerInitialPledgeCollateral',
  perm: 'read',
  summary: 'Pledge for a pre-committed sector, attoFIL, with a margin of a tenth.',
  params: [minerParam, preCommitParam, key],
  result: tokenAmount,
})

export const stateMinerInitialPledgeForSector: CallSignature<
  readonly [Param<number>, Param<bigint>, Param<bigint>, Param<TipsetKey>],
  bigint
> = callSignature({
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
})

export const stateMinerCreationDeposit: CallSignature<readonly [Param<TipsetKey>], bigint> = callSignature({
  name: 'StateMinerCreationDeposit',
  perm: 'read',
  versions: ['v1'],
  summary: 'What a new miner has to lock, attoFIL.',
  params: [key],
  result: tokenAmount,
})
