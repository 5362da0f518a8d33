/** Proofs of a proving window: partitions, faults and recoveries. @see go-state-types builtin/v9 … v18/miner */
import { bytes, type Codec, list, tuple, uint } from '../../../codec/description.ts'
import { type BitField, bitField } from '../../../ipld/bitfield.ts'
import { type PoStProof, poStProof } from '../../../types/blockHeader.ts'
import { type ChainEpoch, chainEpoch } from '../../../types/scalars.ts'

interface PoStPartition {
  readonly index: number
  readonly skipped: BitField
}

const poStPartition: Codec<PoStPartition> = tuple<PoStPartition>('miner.PoStPartition', [
  ['index', 'Index', uint],
  ['skipped', 'Skipped', bitField],
])

interface SubmitWindowedPoStParams {
  readonly deadline: number
  readonly partitions: PoStPartition[]
  readonly proofs: PoStProof[]
  readonly chainCommitEpoch: ChainEpoch
  readonly chainCommitRand: Uint8Array
}

/** Partitions of an open deadline with sectors skipped in each, one proof, and 32 bytes of randomness that name the chain. */
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

interface FaultDeclaration {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
}

const faultDeclaration: Codec<FaultDeclaration> = tuple<FaultDeclaration>('miner.FaultDeclaration', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
])

interface DeclareFaultsParams {
  readonly faults: FaultDeclaration[]
}

/** Sectors that will not be proven, by deadline and partition; before their deadline's fault cutoff. */
export const declareFaultsParams: Codec<DeclareFaultsParams> = tuple<DeclareFaultsParams>('miner.DeclareFaultsParams', [
  ['faults', 'Faults', list(faultDeclaration)],
])

interface RecoveryDeclaration {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
}

const recoveryDeclaration: Codec<RecoveryDeclaration> = tuple<RecoveryDeclaration>('miner.RecoveryDeclaration', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
])

interface DeclareFaultsRecoveredParams {
  readonly recoveries: RecoveryDeclaration[]
}

/** Faulty sectors that will be proven again, by deadline and partition. */
export const declareFaultsRecoveredParams: Codec<DeclareFaultsRecoveredParams> = tuple<DeclareFaultsRecoveredParams>(
  'miner.DeclareFaultsRecoveredParams',
  [['recoveries', 'Recoveries', list(recoveryDeclaration)]],
)

interface ReportConsensusFaultParams {
  readonly blockHeader1: Uint8Array
  readonly blockHeader2: Uint8Array
  readonly blockHeaderExtra: Uint8Array
}

/** Two block headers of the same producer in CBOR and, for a parent left out, a third (else empty). The reporter is paid. */
export const reportConsensusFaultParams: Codec<ReportConsensusFaultParams> = tuple<ReportConsensusFaultParams>(
  'miner.ReportConsensusFaultParams',
  [
    ['blockHeader1', 'BlockHeader1', bytes],
    ['blockHeader2', 'BlockHeader2', bytes],
    ['blockHeaderExtra', 'BlockHeaderExtra', bytes],
  ],
)

interface DisputeWindowedPoStParams {
  readonly deadline: number
  readonly poStIndex: number
}

/** A past deadline and which of its accepted proofs is claimed to be false. Who is right is paid. */
export const disputeWindowedPoStParams: Codec<DisputeWindowedPoStParams> = tuple<DisputeWindowedPoStParams>(
  'miner.DisputeWindowedPoStParams',
  [
    ['deadline', 'Deadline', uint],
    ['poStIndex', 'PoStIndex', uint],
  ],
)
