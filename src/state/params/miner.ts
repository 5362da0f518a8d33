/** Parameters and return values of miners. @see go-state-types builtin/v9 … v18/miner */
import type { Cid } from '../../codec/cid.ts'
import { bool, bytes, type Codec, cid, list, nullable, tuple, uint } from '../../codec/description.ts'
import { type BitField, bitField } from '../../ipld/bitfield.ts'
import { type Address, address } from '../../types/address.ts'
import { type PoStProof, poStProof } from '../../types/blockHeader.ts'
import {
  type ActorId,
  actorId,
  type ChainEpoch,
  chainEpoch,
  type TokenAmount,
  tokenAmount,
} from '../../types/scalars.ts'
import {
  type BeneficiaryTerm,
  beneficiaryTerm,
  type PendingBeneficiaryChange,
  pendingBeneficiaryChange,
} from '../miner.ts'
import {
  type DealId,
  dealId,
  type FilterEstimate,
  filterEstimate,
  paddedPieceSize,
  registeredAggregationProof,
  registeredSealProof,
  registeredUpdateProof,
  type SectorNumber,
  type StoragePower,
  sectorNumber,
  storagePower,
} from '../scalars.ts'
import { type SectorPreCommitInfo, sectorPreCommitInfoAt } from '../sector.ts'

export interface GetControlAddressesReturn {
  readonly owner: Address
  readonly worker: Address
  readonly controlAddrs: Address[]
}

export const getControlAddressesReturn: Codec<GetControlAddressesReturn> = tuple<GetControlAddressesReturn>(
  'miner.GetControlAddressesReturn',
  [
    ['owner', 'Owner', address],
    ['worker', 'Worker', address],
    ['controlAddrs', 'ControlAddrs', list(address)],
  ],
)

export interface ChangeWorkerAddressParams {
  readonly newWorker: Address
  readonly newControlAddrs: Address[]
}

export const changeWorkerAddressParams: Codec<ChangeWorkerAddressParams> = tuple<ChangeWorkerAddressParams>(
  'miner.ChangeWorkerAddressParams',
  [
    ['newWorker', 'NewWorker', address],
    ['newControlAddrs', 'NewControlAddrs', list(address)],
  ],
)

export interface ChangePeerIDParams {
  readonly newId: Uint8Array
}

export const changePeerIDParams: Codec<ChangePeerIDParams> = tuple<ChangePeerIDParams>('miner.ChangePeerIDParams', [
  ['newId', 'NewID', bytes],
])

export interface PoStPartition {
  readonly index: number
  readonly skipped: BitField
}

export const poStPartition: Codec<PoStPartition> = tuple<PoStPartition>('miner.PoStPartition', [
  ['index', 'Index', uint],
  ['skipped', 'Skipped', bitField],
])

export interface SubmitWindowedPoStParams {
  readonly deadline: number
  readonly partitions: PoStPartition[]
  readonly proofs: PoStProof[]
  readonly chainCommitEpoch: ChainEpoch
  readonly chainCommitRand: Uint8Array
}

export const submitWindowedPoStParams: Codec<SubmitWindowedPoStParams> = tuple<SubmitWindowedPoStParams>(
  'miner.SubmitWindowedPoStParams',
  [
    ['deadline', 'Deadline', uint],
    ['partitions', 'Partitions', list(poStPartition)],
    ['proofs', 'Proofs', list(poStProof)],
    ['chainCommitEpoch', 'ChainCommitEpoch', chainEpoch],
    ['chainCommitRand', 'ChainCommitRand', bytes],
  ],
)

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

export interface ExpirationExtension {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
  readonly newExpiration: ChainEpoch
}

export const expirationExtension: Codec<ExpirationExtension> = tuple<ExpirationExtension>('miner.ExpirationExtension', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
  ['newExpiration', 'NewExpiration', chainEpoch],
])

export interface ExtendSectorExpirationParams {
  readonly extensions: ExpirationExtension[]
}

export const extendSectorExpirationParams: Codec<ExtendSectorExpirationParams> = tuple<ExtendSectorExpirationParams>(
  'miner.ExtendSectorExpirationParams',
  [['extensions', 'Extensions', list(expirationExtension)]],
)

export interface TerminationDeclaration {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
}

export const terminationDeclaration: Codec<TerminationDeclaration> = tuple<TerminationDeclaration>(
  'miner.TerminationDeclaration',
  [
    ['deadline', 'Deadline', uint],
    ['partition', 'Partition', uint],
    ['sectors', 'Sectors', bitField],
  ],
)

export interface TerminateSectorsParams {
  readonly terminations: TerminationDeclaration[]
}

export const terminateSectorsParams: Codec<TerminateSectorsParams> = tuple<TerminateSectorsParams>(
  'miner.TerminateSectorsParams',
  [['terminations', 'Terminations', list(terminationDeclaration)]],
)

export interface TerminateSectorsReturn {
  readonly done: boolean
}

export const terminateSectorsReturn: Codec<TerminateSectorsReturn> = tuple<TerminateSectorsReturn>(
  'miner.TerminateSectorsReturn',
  [['done', 'Done', bool]],
)

export interface FaultDeclaration {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
}

export const faultDeclaration: Codec<FaultDeclaration> = tuple<FaultDeclaration>('miner.FaultDeclaration', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
])

export interface DeclareFaultsParams {
  readonly faults: FaultDeclaration[]
}

export const declareFaultsParams: Codec<DeclareFaultsParams> = tuple<DeclareFaultsParams>('miner.DeclareFaultsParams', [
  ['faults', 'Faults', list(faultDeclaration)],
])

export interface RecoveryDeclaration {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
}

export const recoveryDeclaration: Codec<RecoveryDeclaration> = tuple<RecoveryDeclaration>('miner.RecoveryDeclaration', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
])

export interface DeclareFaultsRecoveredParams {
  readonly recoveries: RecoveryDeclaration[]
}

export const declareFaultsRecoveredParams: Codec<DeclareFaultsRecoveredParams> = tuple<DeclareFaultsRecoveredParams>(
  'miner.DeclareFaultsRecoveredParams',
  [['recoveries', 'Recoveries', list(recoveryDeclaration)]],
)

export interface DeferredCronEventParams {
  readonly eventPayload: Uint8Array
  readonly rewardSmoothed: FilterEstimate
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

export const deferredCronEventParams: Codec<DeferredCronEventParams> = tuple<DeferredCronEventParams>(
  'miner.DeferredCronEventParams',
  [
    ['eventPayload', 'EventPayload', bytes],
    ['rewardSmoothed', 'RewardSmoothed', filterEstimate],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ],
)

export interface CheckSectorProvenParams {
  readonly sectorNumber: SectorNumber
}

export const checkSectorProvenParams: Codec<CheckSectorProvenParams> = tuple<CheckSectorProvenParams>(
  'miner.CheckSectorProvenParams',
  [['sectorNumber', 'SectorNumber', sectorNumber]],
)

export interface ApplyRewardParams {
  readonly reward: TokenAmount
  readonly penalty: TokenAmount
}

export const applyRewardParams: Codec<ApplyRewardParams> = tuple<ApplyRewardParams>('miner.ApplyRewardParams', [
  ['reward', 'Reward', tokenAmount],
  ['penalty', 'Penalty', tokenAmount],
])

export interface ReportConsensusFaultParams {
  readonly blockHeader1: Uint8Array
  readonly blockHeader2: Uint8Array
  readonly blockHeaderExtra: Uint8Array
}

export const reportConsensusFaultParams: Codec<ReportConsensusFaultParams> = tuple<ReportConsensusFaultParams>(
  'miner.ReportConsensusFaultParams',
  [
    ['blockHeader1', 'BlockHeader1', bytes],
    ['blockHeader2', 'BlockHeader2', bytes],
    ['blockHeaderExtra', 'BlockHeaderExtra', bytes],
  ],
)

export interface WithdrawBalanceParams {
  readonly amountRequested: TokenAmount
}

export const withdrawBalanceParams: Codec<WithdrawBalanceParams> = tuple<WithdrawBalanceParams>(
  'miner.WithdrawBalanceParams',
  [['amountRequested', 'AmountRequested', tokenAmount]],
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

export interface ChangeMultiaddrsParams {
  readonly newMultiaddrs: Uint8Array[]
}

export const changeMultiaddrsParams: Codec<ChangeMultiaddrsParams> = tuple<ChangeMultiaddrsParams>(
  'miner.ChangeMultiaddrsParams',
  [['newMultiaddrs', 'NewMultiaddrs', list(bytes)]],
)

export interface CompactPartitionsParams {
  readonly deadline: number
  readonly partitions: BitField
}

export const compactPartitionsParams: Codec<CompactPartitionsParams> = tuple<CompactPartitionsParams>(
  'miner.CompactPartitionsParams',
  [
    ['deadline', 'Deadline', uint],
    ['partitions', 'Partitions', bitField],
  ],
)

export interface CompactSectorNumbersParams {
  readonly maskSectorNumbers: BitField
}

export const compactSectorNumbersParams: Codec<CompactSectorNumbersParams> = tuple<CompactSectorNumbersParams>(
  'miner.CompactSectorNumbersParams',
  [['maskSectorNumbers', 'MaskSectorNumbers', bitField]],
)

export interface DisputeWindowedPoStParams {
  readonly deadline: number
  readonly poStIndex: number
}

export const disputeWindowedPoStParams: Codec<DisputeWindowedPoStParams> = tuple<DisputeWindowedPoStParams>(
  'miner.DisputeWindowedPoStParams',
  [
    ['deadline', 'Deadline', uint],
    ['poStIndex', 'PoStIndex', uint],
  ],
)

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

export interface ReplicaUpdate {
  readonly sectorId: SectorNumber
  readonly deadline: number
  readonly partition: number
  readonly newSealedSectorCid: Cid
  readonly deals: DealId[]
  readonly updateProofType: number
  readonly replicaProof: Uint8Array
}

export const replicaUpdate: Codec<ReplicaUpdate> = tuple<ReplicaUpdate>('miner.ReplicaUpdate', [
  ['sectorId', 'SectorID', sectorNumber],
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['newSealedSectorCid', 'NewSealedSectorCID', cid],
  ['deals', 'Deals', list(dealId)],
  ['updateProofType', 'UpdateProofType', registeredUpdateProof],
  ['replicaProof', 'ReplicaProof', bytes],
])

export interface ProveReplicaUpdatesParams {
  readonly updates: ReplicaUpdate[]
}

export const proveReplicaUpdatesParams: Codec<ProveReplicaUpdatesParams> = tuple<ProveReplicaUpdatesParams>(
  'miner.ProveReplicaUpdatesParams',
  [['updates', 'Updates', list(replicaUpdate)]],
)

export interface PreCommitSectorBatchParams2 {
  readonly sectors: SectorPreCommitInfo[]
}

export const preCommitSectorBatchParams2: Codec<PreCommitSectorBatchParams2> = tuple<PreCommitSectorBatchParams2>(
  'miner.PreCommitSectorBatchParams2',
  [['sectors', 'Sectors', list(sectorPreCommitInfoAt(18))]],
)

export interface ReplicaUpdate2 {
  readonly sectorId: SectorNumber
  readonly deadline: number
  readonly partition: number
  readonly newSealedSectorCid: Cid
  readonly newUnsealedSectorCid: Cid
  readonly deals: DealId[]
  readonly updateProofType: number
  readonly replicaProof: Uint8Array
}

export const replicaUpdate2: Codec<ReplicaUpdate2> = tuple<ReplicaUpdate2>('miner.ReplicaUpdate2', [
  ['sectorId', 'SectorID', sectorNumber],
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['newSealedSectorCid', 'NewSealedSectorCID', cid],
  ['newUnsealedSectorCid', 'NewUnsealedSectorCID', cid],
  ['deals', 'Deals', list(dealId)],
  ['updateProofType', 'UpdateProofType', registeredUpdateProof],
  ['replicaProof', 'ReplicaProof', bytes],
])

export interface ProveReplicaUpdatesParams2 {
  readonly updates: ReplicaUpdate2[]
}

export const proveReplicaUpdatesParams2: Codec<ProveReplicaUpdatesParams2> = tuple<ProveReplicaUpdatesParams2>(
  'miner.ProveReplicaUpdatesParams2',
  [['updates', 'Updates', list(replicaUpdate2)]],
)

export interface ChangeBeneficiaryParams {
  readonly newBeneficiary: Address
  readonly newQuota: TokenAmount
  readonly newExpiration: ChainEpoch
}

export const changeBeneficiaryParams: Codec<ChangeBeneficiaryParams> = tuple<ChangeBeneficiaryParams>(
  'miner.ChangeBeneficiaryParams',
  [
    ['newBeneficiary', 'NewBeneficiary', address],
    ['newQuota', 'NewQuota', tokenAmount],
    ['newExpiration', 'NewExpiration', chainEpoch],
  ],
)

export interface ActiveBeneficiary {
  readonly beneficiary: Address
  readonly term: BeneficiaryTerm
}

export const activeBeneficiary: Codec<ActiveBeneficiary> = tuple<ActiveBeneficiary>('miner.ActiveBeneficiary', [
  ['beneficiary', 'Beneficiary', address],
  ['term', 'Term', beneficiaryTerm],
])

export interface GetBeneficiaryReturn {
  readonly active: ActiveBeneficiary
  readonly proposed: PendingBeneficiaryChange | null
}

export const getBeneficiaryReturn: Codec<GetBeneficiaryReturn> = tuple<GetBeneficiaryReturn>(
  'miner.GetBeneficiaryReturn',
  [
    ['active', 'Active', activeBeneficiary],
    ['proposed', 'Proposed', nullable(pendingBeneficiaryChange)],
  ],
)

export interface SectorClaim {
  readonly sectorNumber: SectorNumber
  readonly maintainClaims: number[]
  readonly dropClaims: number[]
}

export const sectorClaim: Codec<SectorClaim> = tuple<SectorClaim>('miner.SectorClaim', [
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['maintainClaims', 'MaintainClaims', list(uint)],
  ['dropClaims', 'DropClaims', list(uint)],
])

export interface ExpirationExtension2 {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
  readonly sectorsWithClaims: SectorClaim[]
  readonly newExpiration: ChainEpoch
}

export const expirationExtension2: Codec<ExpirationExtension2> = tuple<ExpirationExtension2>(
  'miner.ExpirationExtension2',
  [
    ['deadline', 'Deadline', uint],
    ['partition', 'Partition', uint],
    ['sectors', 'Sectors', bitField],
    ['sectorsWithClaims', 'SectorsWithClaims', list(sectorClaim)],
    ['newExpiration', 'NewExpiration', chainEpoch],
  ],
)

export interface ExtendSectorExpiration2Params {
  readonly extensions: ExpirationExtension2[]
}

export const extendSectorExpiration2Params: Codec<ExtendSectorExpiration2Params> = tuple<ExtendSectorExpiration2Params>(
  'miner.ExtendSectorExpiration2Params',
  [['extensions', 'Extensions', list(expirationExtension2)]],
)

export interface MaxTerminationFeeParams {
  readonly power: StoragePower
  readonly initialPledge: TokenAmount
}

export const maxTerminationFeeParams: Codec<MaxTerminationFeeParams> = tuple<MaxTerminationFeeParams>(
  'miner.MaxTerminationFeeParams',
  [
    ['power', 'Power', storagePower],
    ['initialPledge', 'InitialPledge', tokenAmount],
  ],
)

export interface GetOwnerReturn {
  readonly owner: Address
  readonly proposed: Address | null
}

export const getOwnerReturn: Codec<GetOwnerReturn> = tuple<GetOwnerReturn>('miner.GetOwnerReturn', [
  ['owner', 'Owner', address],
  ['proposed', 'Proposed', nullable(address)],
])

export interface GetPeerIDReturn {
  readonly peerId: Uint8Array
}

export const getPeerIDReturn: Codec<GetPeerIDReturn> = tuple<GetPeerIDReturn>('miner.GetPeerIDReturn', [
  ['peerId', 'PeerId', bytes],
])

export interface GetMultiAddrsReturn {
  readonly multiAddrs: Uint8Array
}

export const getMultiAddrsReturn: Codec<GetMultiAddrsReturn> = tuple<GetMultiAddrsReturn>('miner.GetMultiAddrsReturn', [
  ['multiAddrs', 'MultiAddrs', bytes],
])

export interface GenerateSectorLocationParams {
  readonly sectorNumber: SectorNumber
}

export const generateSectorLocationParams: Codec<GenerateSectorLocationParams> = tuple<GenerateSectorLocationParams>(
  'miner.GenerateSectorLocationParams',
  [['sectorNumber', 'SectorNumber', sectorNumber]],
)

export interface GenerateSectorLocationReturn {
  readonly status: number
  readonly auxData: Uint8Array
}

export const generateSectorLocationReturn: Codec<GenerateSectorLocationReturn> = tuple<GenerateSectorLocationReturn>(
  'miner.GenerateSectorLocationReturn',
  [
    ['status', 'Status', uint],
    ['auxData', 'AuxData', bytes],
  ],
)

export interface ValidateSectorStatusParams {
  readonly sectorNumber: SectorNumber
  readonly status: number
  readonly auxData: Uint8Array
}

export const validateSectorStatusParams: Codec<ValidateSectorStatusParams> = tuple<ValidateSectorStatusParams>(
  'miner.ValidateSectorStatusParams',
  [
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['status', 'Status', uint],
    ['auxData', 'AuxData', bytes],
  ],
)

export interface VerifiedAllocationKey {
  readonly client: ActorId
  readonly id: number
}

export const verifiedAllocationKey: Codec<VerifiedAllocationKey> = tuple<VerifiedAllocationKey>(
  'miner.VerifiedAllocationKey',
  [
    ['client', 'Client', actorId],
    ['id', 'ID', uint],
  ],
)

export interface DataActivationNotification {
  readonly address: Address
  readonly payload: Uint8Array
}

export const dataActivationNotification: Codec<DataActivationNotification> = tuple<DataActivationNotification>(
  'miner.DataActivationNotification',
  [
    ['address', 'Address', address],
    ['payload', 'Payload', bytes],
  ],
)

export interface PieceActivationManifest {
  readonly cid: Cid
  readonly size: number
  readonly verifiedAllocationKey: VerifiedAllocationKey | null
  readonly notify: DataActivationNotification[]
}

export const pieceActivationManifest: Codec<PieceActivationManifest> = tuple<PieceActivationManifest>(
  'miner.PieceActivationManifest',
  [
    ['cid', 'CID', cid],
    ['size', 'Size', paddedPieceSize],
    ['verifiedAllocationKey', 'VerifiedAllocationKey', nullable(verifiedAllocationKey)],
    ['notify', 'Notify', list(dataActivationNotification)],
  ],
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

export interface SectorUpdateManifest {
  readonly sector: SectorNumber
  readonly deadline: number
  readonly partition: number
  readonly newSealedCid: Cid
  readonly pieces: PieceActivationManifest[]
}

export const sectorUpdateManifest: Codec<SectorUpdateManifest> = tuple<SectorUpdateManifest>(
  'miner.SectorUpdateManifest',
  [
    ['sector', 'Sector', sectorNumber],
    ['deadline', 'Deadline', uint],
    ['partition', 'Partition', uint],
    ['newSealedCid', 'NewSealedCID', cid],
    ['pieces', 'Pieces', list(pieceActivationManifest)],
  ],
)

export interface ProveReplicaUpdates3Params {
  readonly sectorUpdates: SectorUpdateManifest[]
  readonly sectorProofs: Uint8Array[]
  readonly aggregateProof: Uint8Array
  readonly updateProofsType: number
  readonly aggregateProofType: number | null
  readonly requireActivationSuccess: boolean
  readonly requireNotificationSuccess: boolean
}

export const proveReplicaUpdates3Params: Codec<ProveReplicaUpdates3Params> = tuple<ProveReplicaUpdates3Params>(
  'miner.ProveReplicaUpdates3Params',
  [
    ['sectorUpdates', 'SectorUpdates', list(sectorUpdateManifest)],
    ['sectorProofs', 'SectorProofs', list(bytes)],
    ['aggregateProof', 'AggregateProof', bytes],
    ['updateProofsType', 'UpdateProofsType', registeredUpdateProof],
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

export interface PieceChange {
  readonly data: Cid
  readonly size: number
  readonly payload: Uint8Array
}

export const pieceChange: Codec<PieceChange> = tuple<PieceChange>('miner.PieceChange', [
  ['data', 'Data', cid],
  ['size', 'Size', paddedPieceSize],
  ['payload', 'Payload', bytes],
])

export interface SectorChanges {
  readonly sector: SectorNumber
  readonly minimumCommitmentEpoch: ChainEpoch
  readonly added: PieceChange[]
}

export const sectorChanges: Codec<SectorChanges> = tuple<SectorChanges>('miner.SectorChanges', [
  ['sector', 'Sector', sectorNumber],
  ['minimumCommitmentEpoch', 'MinimumCommitmentEpoch', chainEpoch],
  ['added', 'Added', list(pieceChange)],
])

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
