/** Sectors that are sealed and committed, with all that activates with them. @see go-state-types builtin/v9 … v18/miner */
import type { Cid } from '../../../codec/cid.ts'
import { bool, bytes, type Codec, cid, list, nullable, tuple, uint } from '../../../codec/description.ts'
import { type BitField, bitField } from '../../../ipld/bitfield.ts'
import { type ActorId, actorId, type ChainEpoch, chainEpoch } from '../../../types/scalars.ts'
import {
  type DealId,
  dealId,
  type FilterEstimate,
  filterEstimate,
  registeredAggregationProof,
  registeredSealProof,
  type SectorNumber,
  type StoragePower,
  sectorNumber,
  storagePower,
} from '../../scalars.ts'
import { type SectorPreCommitInfo, sectorPreCommitInfoAt } from '../../sector.ts'
import { type PieceActivationManifest, pieceActivationManifest } from './pieces.ts'

export interface PreCommitSectorParams {
  readonly sealProof: number
  readonly sectorNumber: SectorNumber
  readonly sealedCid: Cid
  readonly sealRandEpoch: ChainEpoch
  readonly dealIds: DealId[]
  readonly expiration: ChainEpoch
  readonly replaceCapacity: boolean
  readonly replaceSectorDeadline: number
  readonly replaceSectorPartition: number
  readonly replaceSectorNumber: SectorNumber
}

export const preCommitSectorParams: Codec<PreCommitSectorParams> = tuple<PreCommitSectorParams>(
  'miner.PreCommitSectorParams',
  [
    ['sealProof', 'SealProof', registeredSealProof],
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['sealedCid', 'SealedCID', cid],
    ['sealRandEpoch', 'SealRandEpoch', chainEpoch],
    ['dealIds', 'DealIDs', list(dealId)],
    ['expiration', 'Expiration', chainEpoch],
    ['replaceCapacity', 'ReplaceCapacity', bool],
    ['replaceSectorDeadline', 'ReplaceSectorDeadline', uint],
    ['replaceSectorPartition', 'ReplaceSectorPartition', uint],
    ['replaceSectorNumber', 'ReplaceSectorNumber', sectorNumber],
  ],
)

export interface ProveCommitSectorParams {
  readonly sectorNumber: SectorNumber
  readonly proof: Uint8Array
}

export const proveCommitSectorParams: Codec<ProveCommitSectorParams> = tuple<ProveCommitSectorParams>(
  'miner.ProveCommitSectorParams',
  [
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['proof', 'Proof', bytes],
  ],
)

export interface InternalSectorSetupForPresealParams {
  readonly sectors: SectorNumber[]
  readonly rewardSmoothed: FilterEstimate
  readonly rewardBaselinePower: StoragePower
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

export const internalSectorSetupForPresealParams: Codec<InternalSectorSetupForPresealParams> =
  tuple<InternalSectorSetupForPresealParams>('miner.InternalSectorSetupForPresealParams', [
    ['sectors', 'Sectors', list(sectorNumber)],
    ['rewardSmoothed', 'RewardSmoothed', filterEstimate],
    ['rewardBaselinePower', 'RewardBaselinePower', storagePower],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ])

export interface PreCommitSectorBatchParams {
  readonly sectors: PreCommitSectorParams[]
}

export const preCommitSectorBatchParams: Codec<PreCommitSectorBatchParams> = tuple<PreCommitSectorBatchParams>(
  'miner.PreCommitSectorBatchParams',
  [['sectors', 'Sectors', list(preCommitSectorParams)]],
)

export interface ProveCommitAggregateParams {
  readonly sectorNumbers: BitField
  readonly aggregateProof: Uint8Array
}

export const proveCommitAggregateParams: Codec<ProveCommitAggregateParams> = tuple<ProveCommitAggregateParams>(
  'miner.ProveCommitAggregateParams',
  [
    ['sectorNumbers', 'SectorNumbers', bitField],
    ['aggregateProof', 'AggregateProof', bytes],
  ],
)

export interface PreCommitSectorBatchParams2 {
  readonly sectors: SectorPreCommitInfo[]
}

export const preCommitSectorBatchParams2: Codec<PreCommitSectorBatchParams2> = tuple<PreCommitSectorBatchParams2>(
  'miner.PreCommitSectorBatchParams2',
  [['sectors', 'Sectors', list(sectorPreCommitInfoAt(18))]],
)

export interface SectorActivationManifest {
  readonly sectorNumber: SectorNumber
  readonly pieces: PieceActivationManifest[]
}

export const sectorActivationManifest: Codec<SectorActivationManifest> = tuple<SectorActivationManifest>(
  'miner.SectorActivationManifest',
  [
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['pieces', 'Pieces', list(pieceActivationManifest)],
  ],
)

export interface ProveCommitSectors3Params {
  readonly sectorActivations: SectorActivationManifest[]
  readonly sectorProofs: Uint8Array[]
  readonly aggregateProof: Uint8Array
  readonly aggregateProofType: number | null
  readonly requireActivationSuccess: boolean
  readonly requireNotificationSuccess: boolean
}

export const proveCommitSectors3Params: Codec<ProveCommitSectors3Params> = tuple<ProveCommitSectors3Params>(
  'miner.ProveCommitSectors3Params',
  [
    ['sectorActivations', 'SectorActivations', list(sectorActivationManifest)],
    ['sectorProofs', 'SectorProofs', list(bytes)],
    ['aggregateProof', 'AggregateProof', bytes],
    ['aggregateProofType', 'AggregateProofType', nullable(registeredAggregationProof)],
    ['requireActivationSuccess', 'RequireActivationSuccess', bool],
    ['requireNotificationSuccess', 'RequireNotificationSuccess', bool],
  ],
)

export interface SectorNIActivationInfo {
  readonly sealingNumber: SectorNumber
  readonly sealerId: ActorId
  readonly sealedCid: Cid
  readonly sectorNumber: SectorNumber
  readonly sealRandEpoch: ChainEpoch
  readonly expiration: ChainEpoch
}

export const sectorNIActivationInfo: Codec<SectorNIActivationInfo> = tuple<SectorNIActivationInfo>(
  'miner.SectorNIActivationInfo',
  [
    ['sealingNumber', 'SealingNumber', sectorNumber],
    ['sealerId', 'SealerID', actorId],
    ['sealedCid', 'SealedCID', cid],
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['sealRandEpoch', 'SealRandEpoch', chainEpoch],
    ['expiration', 'Expiration', chainEpoch],
  ],
)

export interface ProveCommitSectorsNIParams {
  readonly sectors: SectorNIActivationInfo[]
  readonly aggregateProof: Uint8Array
  readonly sealProofType: number
  readonly aggregateProofType: number
  readonly provingDeadline: number
  readonly requireActivationSuccess: boolean
}

export const proveCommitSectorsNIParams: Codec<ProveCommitSectorsNIParams> = tuple<ProveCommitSectorsNIParams>(
  'miner.ProveCommitSectorsNIParams',
  [
    ['sectors', 'Sectors', list(sectorNIActivationInfo)],
    ['aggregateProof', 'AggregateProof', bytes],
    ['sealProofType', 'SealProofType', registeredSealProof],
    ['aggregateProofType', 'AggregateProofType', registeredAggregationProof],
    ['provingDeadline', 'ProvingDeadline', uint],
    ['requireActivationSuccess', 'RequireActivationSuccess', bool],
  ],
)

export interface ConfirmSectorProofsParams {
  readonly sectors: SectorNumber[]
  readonly rewardSmoothed: FilterEstimate
  readonly rewardBaselinePower: StoragePower
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

export const confirmSectorProofsParams: Codec<ConfirmSectorProofsParams> = tuple<ConfirmSectorProofsParams>(
  'miner.ConfirmSectorProofsParams',
  [
    ['sectors', 'Sectors', list(sectorNumber)],
    ['rewardSmoothed', 'RewardSmoothed', filterEstimate],
    ['rewardBaselinePower', 'RewardBaselinePower', storagePower],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ],
)
