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

interface PreCommitSectorParams {
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

/** A sealed sector before its proof, with its deals. What it could replace is read by nobody any more. Up to v12. */
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

interface ProveCommitSectorParams {
  readonly sectorNumber: SectorNumber
  readonly proof: Uint8Array
}

/** A pre-committed sector's number and its proof, 192 bytes for each part; up to v13. */
export const proveCommitSectorParams: Codec<ProveCommitSectorParams> = tuple<ProveCommitSectorParams>(
  'miner.ProveCommitSectorParams',
  [
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['proof', 'Proof', bytes],
  ],
)

interface InternalSectorSetupForPresealParams {
  readonly sectors: SectorNumber[]
  readonly rewardSmoothed: FilterEstimate
  readonly rewardBaselinePower: StoragePower
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

/** Sectors that genesis has sealed, with the estimates of reward and power to price them by. v14 on, of the system actor. */
export const internalSectorSetupForPresealParams: Codec<InternalSectorSetupForPresealParams> =
  tuple<InternalSectorSetupForPresealParams>('miner.InternalSectorSetupForPresealParams', [
    ['sectors', 'Sectors', list(sectorNumber)],
    ['rewardSmoothed', 'RewardSmoothed', filterEstimate],
    ['rewardBaselinePower', 'RewardBaselinePower', storagePower],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ])

interface PreCommitSectorBatchParams {
  readonly sectors: PreCommitSectorParams[]
}

/** {@link PreCommitSectorParams}, several; up to v12. */
export const preCommitSectorBatchParams: Codec<PreCommitSectorBatchParams> = tuple<PreCommitSectorBatchParams>(
  'miner.PreCommitSectorBatchParams',
  [['sectors', 'Sectors', list(preCommitSectorParams)]],
)

interface ProveCommitAggregateParams {
  readonly sectorNumbers: BitField
  readonly aggregateProof: Uint8Array
}

/** Pre-committed sectors and one aggregated proof of them all (FIP-0013); up to v16. */
export const proveCommitAggregateParams: Codec<ProveCommitAggregateParams> = tuple<ProveCommitAggregateParams>(
  'miner.ProveCommitAggregateParams',
  [
    ['sectorNumbers', 'SectorNumbers', bitField],
    ['aggregateProof', 'AggregateProof', bytes],
  ],
)

interface PreCommitSectorBatchParams2 {
  readonly sectors: SectorPreCommitInfo[]
}

/** Sealed sectors before their proof, each with the unsealed CID of its data (null: none). */
export const preCommitSectorBatchParams2: Codec<PreCommitSectorBatchParams2> = tuple<PreCommitSectorBatchParams2>(
  'miner.PreCommitSectorBatchParams2',
  [['sectors', 'Sectors', list(sectorPreCommitInfoAt(18))]],
)

interface SectorActivationManifest {
  readonly sectorNumber: SectorNumber
  readonly pieces: PieceActivationManifest[]
}

const sectorActivationManifest: Codec<SectorActivationManifest> = tuple<SectorActivationManifest>(
  'miner.SectorActivationManifest',
  [
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['pieces', 'Pieces', list(pieceActivationManifest)],
  ],
)

interface ProveCommitSectors3Params {
  readonly sectorActivations: SectorActivationManifest[]
  readonly sectorProofs: Uint8Array[]
  readonly aggregateProof: Uint8Array
  readonly aggregateProofType: number | null
  readonly requireActivationSuccess: boolean
  readonly requireNotificationSuccess: boolean
}

/** Sectors with their pieces, and either a proof each or one aggregated; v13 on. @see FIP-0076 */
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

interface SectorNIActivationInfo {
  readonly sealingNumber: SectorNumber
  readonly sealerId: ActorId
  readonly sealedCid: Cid
  readonly sectorNumber: SectorNumber
  readonly sealRandEpoch: ChainEpoch
  readonly expiration: ChainEpoch
}

const sectorNIActivationInfo: Codec<SectorNIActivationInfo> = tuple<SectorNIActivationInfo>(
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

interface ProveCommitSectorsNIParams {
  readonly sectors: SectorNIActivationInfo[]
  readonly aggregateProof: Uint8Array
  readonly sealProofType: number
  readonly aggregateProofType: number
  readonly provingDeadline: number
  readonly requireActivationSuccess: boolean
}

/** Sectors sealed without interaction: no pre-commitment, no data, one aggregated proof; v14 on. @see FIP-0092 */
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

interface ConfirmSectorProofsParams {
  readonly sectors: SectorNumber[]
  readonly rewardSmoothed: FilterEstimate
  readonly rewardBaselinePower: StoragePower
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

/** Sectors whose proofs the power actor has checked, with estimates of reward and power; up to v13. */
export const confirmSectorProofsParams: Codec<ConfirmSectorProofsParams> = tuple<ConfirmSectorProofsParams>(
  'miner.ConfirmSectorProofsParams',
  [
    ['sectors', 'Sectors', list(sectorNumber)],
    ['rewardSmoothed', 'RewardSmoothed', filterEstimate],
    ['rewardBaselinePower', 'RewardBaselinePower', storagePower],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ],
)
