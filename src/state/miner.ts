/** State of a storage miner. @see go-state-types builtin/v8 … v18/miner; specs-actors v0.9.14 … v7.0.1 */
import type { Cid } from '../codec/cid.ts'
import { bool, bytes, type Codec, cid, list, nullable, tuple, uint } from '../codec/description.ts'
import { type BitField, bitField } from '../ipld/bitfield.ts'
import { type Address, address } from '../types/address.ts'
import {
  type ChainEpoch,
  type ChosenEpoch,
  chainEpoch,
  chosenEpoch,
  type TokenAmount,
  tokenAmount,
} from '../types/scalars.ts'
import { registeredPoStProof, registeredSealProof, sectorSize } from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** An amount that becomes free at an epoch. */
export interface VestingFund {
  readonly epoch: ChainEpoch
  readonly amount: TokenAmount
}

const vestingFund: Codec<VestingFund> = tuple<VestingFund>('miner.VestingFund', [
  ['epoch', 'Epoch', chainEpoch],
  ['amount', 'Amount', tokenAmount],
])

/** The next amount to vest, and the block with the rest. */
export interface VestingFunds {
  readonly head: VestingFund
  /** Block: CBOR array of vesting funds. */
  readonly tail: Cid
}

export const vestingFunds: Codec<VestingFunds> = tuple<VestingFunds>('miner.VestingFunds', [
  ['head', 'Head', vestingFund],
  ['tail', 'Tail', cid],
])

/** The block behind {@link VestingFunds.tail}: an array without a struct around it. */
export const vestingFundsTail: Codec<VestingFund[]> = list(vestingFund)

/** Before version 16: the block behind {@link MinerState.vestingFundsCid}. */
export const vestingFundsBlock: Codec<{ readonly funds: VestingFund[] }> = tuple<{ readonly funds: VestingFund[] }>(
  'miner.VestingFunds',
  [['funds', 'Funds', list(vestingFund)]],
)

/** A miner's sectors, deadlines and money, in attoFIL. */
export interface MinerState {
  /** Block: {@link MinerInfo}. */
  readonly info: Cid
  readonly preCommitDeposits: TokenAmount
  /** Rewards that have not vested. */
  readonly lockedFunds: TokenAmount
  /** Only before version 16; block: all vesting funds. */
  readonly vestingFundsCid?: Cid
  /** From version 16. Null: nothing vests. */
  readonly vestingFunds: VestingFunds | null
  /** From version 2. */
  readonly feeDebt: TokenAmount
  /** Only before version 2. */
  readonly initialPledgeRequirement?: TokenAmount
  readonly initialPledge: TokenAmount
  /** HAMT (bit width 5) of sector number to pre-commitment. */
  readonly preCommittedSectors: Cid
  /** Name before version 5 in JSON: PreCommittedSectorsExpiry. AMT (bit width 6) of epoch to bit field. */
  readonly preCommittedSectorsCleanUp: Cid
  /** Block: bit field. */
  readonly allocatedSectors: Cid
  /** AMT (bit width 5) of sector number to sector. */
  readonly sectors: Cid
  readonly provingPeriodStart: ChainEpoch
  readonly currentDeadline: number
  /** Block: {@link Deadlines}. */
  readonly deadlines: Cid
  /** Deadlines with early terminations to process. */
  readonly earlyTerminations: BitField
  /** From version 4. */
  readonly deadlineCronActive: boolean
}

export const minerStateAt: (actorsVersion: number) => Codec<MinerState> = versionedTuple<MinerState>('miner.State', [
  ['info', 'Info', cid],
  ['preCommitDeposits', 'PreCommitDeposits', tokenAmount],
  ['lockedFunds', 'LockedFunds', tokenAmount],
  ['vestingFundsCid', 'VestingFunds', cid, { until: 15 }],
  ['vestingFunds', 'VestingFunds', nullable(vestingFunds), { from: 16 }],
  ['feeDebt', 'FeeDebt', tokenAmount, { from: 2 }],
  ['initialPledgeRequirement', 'InitialPledgeRequirement', tokenAmount, { until: 0 }],
  ['initialPledge', 'InitialPledge', tokenAmount, { from: 2 }],
  ['preCommittedSectors', 'PreCommittedSectors', cid],
  ['preCommittedSectorsCleanUp', 'PreCommittedSectorsExpiry', cid, { until: 4 }],
  ['preCommittedSectorsCleanUp', 'PreCommittedSectorsCleanUp', cid, { from: 5 }],
  ['allocatedSectors', 'AllocatedSectors', cid],
  ['sectors', 'Sectors', cid],
  ['provingPeriodStart', 'ProvingPeriodStart', chainEpoch],
  ['currentDeadline', 'CurrentDeadline', uint],
  ['deadlines', 'Deadlines', cid],
  ['earlyTerminations', 'EarlyTerminations', bitField],
  ['deadlineCronActive', 'DeadlineCronActive', bool, { from: 4 }],
])
export const minerState: Codec<MinerState> = minerStateAt(18)

/** A worker key that takes effect later. */
interface WorkerKeyChange {
  readonly newWorker: Address
  readonly effectiveAt: ChainEpoch
}

const workerKeyChange: Codec<WorkerKeyChange> = tuple<WorkerKeyChange>('miner.WorkerKeyChange', [
  ['newWorker', 'NewWorker', address],
  ['effectiveAt', 'EffectiveAt', chainEpoch],
])

/**
 * How much a beneficiary may withdraw, and until when.
 * @see builtin-actors actors/miner/src/lib.rs change_beneficiary: checks the quota alone
 */
export interface BeneficiaryTerm {
  readonly quota: TokenAmount
  readonly usedQuota: TokenAmount
  /** The owner's choice: may be any. */
  readonly expiration: ChosenEpoch
}

export const beneficiaryTerm: Codec<BeneficiaryTerm> = tuple<BeneficiaryTerm>('miner.BeneficiaryTerm', [
  ['quota', 'Quota', tokenAmount],
  ['usedQuota', 'UsedQuota', tokenAmount],
  ['expiration', 'Expiration', chosenEpoch],
])

/** A change of the beneficiary that owner, beneficiary and nominee have not all agreed to. */
export interface PendingBeneficiaryChange {
  readonly newBeneficiary: Address
  readonly newQuota: TokenAmount
  readonly newExpiration: ChosenEpoch
  readonly approvedByBeneficiary: boolean
  readonly approvedByNominee: boolean
}

export const pendingBeneficiaryChange: Codec<PendingBeneficiaryChange> = tuple<PendingBeneficiaryChange>(
  'miner.PendingBeneficiaryChange',
  [
    ['newBeneficiary', 'NewBeneficiary', address],
    ['newQuota', 'NewQuota', tokenAmount],
    ['newExpiration', 'NewExpiration', chosenEpoch],
    ['approvedByBeneficiary', 'ApprovedByBeneficiary', bool],
    ['approvedByNominee', 'ApprovedByNominee', bool],
  ],
)

/** Who runs a miner, and how it is reached. Changes rarely, so it is a block of its own. */
export interface MinerInfo {
  /** ID address. */
  readonly owner: Address
  /** ID address. */
  readonly worker: Address
  readonly controlAddresses: Address[]
  readonly pendingWorkerKey: WorkerKeyChange | null
  /** Bytes of a libp2p peer id. */
  readonly peerId: Uint8Array
  readonly multiaddrs: Uint8Array[]
  /** Only before version 3. */
  readonly sealProofType?: number
  /** From version 3. */
  readonly windowPoStProofType: number
  /** Bytes. */
  readonly sectorSize: number
  readonly windowPoStPartitionSectors: number
  /** From version 2. */
  readonly consensusFaultElapsed: ChainEpoch
  /** From version 2. */
  readonly pendingOwnerAddress: Address | null
  /** From version 9. */
  readonly beneficiary: Address
  /** From version 9. */
  readonly beneficiaryTerm: BeneficiaryTerm
  /** From version 9. */
  readonly pendingBeneficiaryTerm: PendingBeneficiaryChange | null
}

export const minerInfoAt: (actorsVersion: number) => Codec<MinerInfo> = versionedTuple<MinerInfo>('miner.MinerInfo', [
  ['owner', 'Owner', address],
  ['worker', 'Worker', address],
  ['controlAddresses', 'ControlAddresses', list(address)],
  ['pendingWorkerKey', 'PendingWorkerKey', nullable(workerKeyChange)],
  ['peerId', 'PeerId', bytes],
  ['multiaddrs', 'Multiaddrs', list(bytes)],
  ['sealProofType', 'SealProofType', registeredSealProof, { until: 2 }],
  ['windowPoStProofType', 'WindowPoStProofType', registeredPoStProof, { from: 3 }],
  ['sectorSize', 'SectorSize', sectorSize],
  ['windowPoStPartitionSectors', 'WindowPoStPartitionSectors', uint],
  ['consensusFaultElapsed', 'ConsensusFaultElapsed', chainEpoch, { from: 2 }],
  ['pendingOwnerAddress', 'PendingOwnerAddress', nullable(address), { from: 2 }],
  ['beneficiary', 'Beneficiary', address, { from: 9 }],
  ['beneficiaryTerm', 'BeneficiaryTerm', beneficiaryTerm, { from: 9 }],
  ['pendingBeneficiaryTerm', 'PendingBeneficiaryTerm', nullable(pendingBeneficiaryChange), { from: 9 }],
])
export const minerInfo: Codec<MinerInfo> = minerInfoAt(18)
