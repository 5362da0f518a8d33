/** Proofs of a proving window: partitions, faults and recoveries. @see go-state-types builtin/v9 … v18/miner */
import { bytes, type Codec, list, tuple, uint } from '../../../codec/description.ts'
import { type BitField, bitField } from '../../../ipld/bitfield.ts'
import { type PoStProof, poStProof } from '../../../types/blockHeader.ts'
import { type ChainEpoch, chainEpoch } from '../../../types/scalars.ts'

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
