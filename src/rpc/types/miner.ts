/** JSON forms of questions about miners. Field order is Go's. @see lotus api/types.go, api/api_full.go */
import { base58btc } from 'multiformats/bases/base58'
import type { SectorExpiration, SectorLocation } from '../../chain/queries/minerActor.ts'
import type { MinerPower, Power } from '../../chain/queries/minerPower.ts'
import type { DeadlineInfo } from '../../chain/queries/provingDeadline.ts'
import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, bytes, type Codec, cid, jsonOnly, list, nullable, struct, uint } from '../../codec/description.ts'
import type { BlockTemplate } from '../../consensus/createBlock.ts'
import type { MiningBaseInfo } from '../../consensus/miningBase.ts'
import { type BitField, bitField } from '../../ipld/bitfield.ts'
import {
  type BeneficiaryTerm,
  beneficiaryTerm,
  type PendingBeneficiaryChange,
  pendingBeneficiaryChange,
} from '../../state/miner.ts'
import { dealId, registeredPoStProof, registeredSealProof, sectorNumber, sectorSize } from '../../state/scalars.ts'
import type { SectorOnChainInfo, SectorPreCommitInfo } from '../../state/sector.ts'
import { type Address, address } from '../../types/address.ts'
import { beaconEntry, electionProof, poStProof, ticket } from '../../types/blockHeader.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { signedMessage } from '../../types/signedMessage.ts'
import { tipsetKey } from '../../types/tipset.ts'
import { isPeerId, parsePeerName } from './peerId.ts'

/** A peer id as base58 text; null for bytes that are none. */
const peerId: Codec<Uint8Array> = jsonOnly<Uint8Array>(
  'peer.ID',
  (value) => (isPeerId(value) ? base58btc.encode(value).slice(1) : null),
  (json) => (typeof json === 'string' ? base58btc.decode(`z${parsePeerName(json)}`) : new Uint8Array(0)),
  { type: ['string', 'null'] },
)

/** What a miner has registered about itself. */
export interface ApiMinerInfo {
  readonly owner: Address
  readonly worker: Address
  /** Undefined address: no change is pending. */
  readonly newWorker: Address
  readonly controlAddresses: Address[]
  /** -1: no change is pending. */
  readonly workerChangeEpoch: ChainEpoch
  readonly peerId: Uint8Array
  readonly multiaddrs: Uint8Array[]
  readonly windowPoStProofType: number
  readonly sectorSize: number
  readonly windowPoStPartitionSectors: number
  readonly consensusFaultElapsed: ChainEpoch
  readonly pendingOwnerAddress: Address | null
  readonly beneficiary: Address
  readonly beneficiaryTerm: BeneficiaryTerm
  readonly pendingBeneficiaryTerm: PendingBeneficiaryChange | null
}

export const apiMinerInfo: Codec<ApiMinerInfo> = struct<ApiMinerInfo>('api.MinerInfo', [
  ['owner', 'Owner', address],
  ['worker', 'Worker', address],
  ['newWorker', 'NewWorker', address],
  ['controlAddresses', 'ControlAddresses', list(address)],
  ['workerChangeEpoch', 'WorkerChangeEpoch', chainEpoch],
  ['peerId', 'PeerId', peerId],
  ['multiaddrs', 'Multiaddrs', list(bytes)],
  ['windowPoStProofType', 'WindowPoStProofType', registeredPoStProof],
  ['sectorSize', 'SectorSize', sectorSize],
  ['windowPoStPartitionSectors', 'WindowPoStPartitionSectors', uint],
  ['consensusFaultElapsed', 'ConsensusFaultElapsed', chainEpoch],
  ['pendingOwnerAddress', 'PendingOwnerAddress', nullable(address)],
  ['beneficiary', 'Beneficiary', address],
  ['beneficiaryTerm', 'BeneficiaryTerm', nullable(beneficiaryTerm) as Codec<BeneficiaryTerm>],
  ['pendingBeneficiaryTerm', 'PendingBeneficiaryTerm', nullable(pendingBeneficiaryChange)],
])

const power: Codec<Power> = struct<Power>('power.Claim', [
  ['rawBytePower', 'RawBytePower', bigInt],
  ['qualityAdjPower', 'QualityAdjPower', bigInt],
])

/** A miner's claim beside the network's total, bytes; `HasMinPower` says whether it may win blocks. */
export const apiMinerPower: Codec<MinerPower> = struct<MinerPower>('api.MinerPower', [
  ['minerPower', 'MinerPower', power],
  ['totalPower', 'TotalPower', power],
  ['hasMinPower', 'HasMinPower', bool],
])

/** One deadline: what was proven, what may be disputed. */
export interface ApiDeadline {
  readonly postSubmissions: BitField
  readonly disputableProofCount: number
  readonly dailyFee: TokenAmount
}

export const apiDeadline: Codec<ApiDeadline> = struct<ApiDeadline>('api.Deadline', [
  ['postSubmissions', 'PostSubmissions', bitField],
  ['disputableProofCount', 'DisputableProofCount', uint],
  ['dailyFee', 'DailyFee', tokenAmount],
])

/** Sectors of one partition by their standing. */
export interface ApiPartition {
  readonly allSectors: BitField
  readonly faultySectors: BitField
  readonly recoveringSectors: BitField
  readonly liveSectors: BitField
  readonly activeSectors: BitField
}

export const apiPartition: Codec<ApiPartition> = struct<ApiPartition>('api.Partition', [
  ['allSectors', 'AllSectors', bitField],
  ['faultySectors', 'FaultySectors', bitField],
  ['recoveringSectors', 'RecoveringSectors', bitField],
  ['liveSectors', 'LiveSectors', bitField],
  ['activeSectors', 'ActiveSectors', bitField],
])

/** A deadline with its epochs and the constants of proving. @see go-state-types dline/deadline.go Info */
export const apiDeadlineInfo: Codec<DeadlineInfo> = struct<DeadlineInfo>('dline.Info', [
  ['currentEpoch', 'CurrentEpoch', chainEpoch],
  ['periodStart', 'PeriodStart', chainEpoch],
  ['index', 'Index', uint],
  ['open', 'Open', chainEpoch],
  ['close', 'Close', chainEpoch],
  ['challenge', 'Challenge', chainEpoch],
  ['faultCutoff', 'FaultCutoff', chainEpoch],
  ['periodDeadlines', 'WPoStPeriodDeadlines', uint],
  ['provingPeriod', 'WPoStProvingPeriod', chainEpoch],
  ['challengeWindow', 'WPoStChallengeWindow', chainEpoch],
  ['challengeLookback', 'WPoStChallengeLookback', chainEpoch],
  ['faultDeclarationCutoff', 'FaultDeclarationCutoff', chainEpoch],
])

/** How many sectors a miner has, by their standing. */
export interface ApiMinerSectors {
  readonly live: number
  readonly active: number
  readonly faulty: number
}

export const apiMinerSectors: Codec<ApiMinerSectors> = struct<ApiMinerSectors>('api.MinerSectors', [
  ['live', 'Live', uint],
  ['active', 'Active', uint],
  ['faulty', 'Faulty', uint],
])

/** A sector to prove, as the prover takes it. */
type ExtendedSector = Pick<SectorOnChainInfo, 'sealProof' | 'sectorNumber' | 'sectorKeyCid' | 'sealedCid'>

const extendedSector: Codec<ExtendedSector> = struct<ExtendedSector>('proof.ExtendedSectorInfo', [
  ['sealProof', 'SealProof', registeredSealProof],
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['sectorKeyCid', 'SectorKey', nullable(cid) as Codec<Cid | null>],
  ['sealedCid', 'SealedCID', cid],
])

/** What MinerGetBaseInfo gives a producer to draw its ticket and prove a win with. @see lotus api/api_full.go MiningBaseInfo */
export const miningBaseInfo: Codec<MiningBaseInfo> = struct<MiningBaseInfo>('api.MiningBaseInfo', [
  ['minerPower', 'MinerPower', bigInt],
  ['networkPower', 'NetworkPower', bigInt],
  ['sectors', 'Sectors', list(extendedSector) as unknown as Codec<SectorOnChainInfo[]>],
  ['workerKey', 'WorkerKey', address],
  ['sectorSize', 'SectorSize', sectorSize],
  ['prevBeaconEntry', 'PrevBeaconEntry', beaconEntry],
  ['beaconEntries', 'BeaconEntries', list(beaconEntry)],
  ['eligibleForMining', 'EligibleForMining', bool],
])

/** `{Deadline, Partition}` of a sector, both counted from 0. @see lotus chain/actors/builtin/miner SectorLocation */
export const apiSectorLocation: Codec<SectorLocation> = struct<SectorLocation>('miner.SectorLocation', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
])

/** Epochs at which a sector ends: by its term, or early because it is faulty (0: it is not). */
export const apiSectorExpiration: Codec<SectorExpiration> = struct<SectorExpiration>('miner.SectorExpiration', [
  ['onTime', 'OnTime', chainEpoch],
  ['early', 'Early', chainEpoch],
])

/** A sector that Lotus' `StateAllMinerFaults` would list, did it answer. */
export interface ApiFault {
  readonly miner: Address
  readonly epoch: ChainEpoch
}

export const apiFault: Codec<ApiFault> = struct<ApiFault>('api.Fault', [
  ['miner', 'Miner', address],
  ['epoch', 'Epoch', chainEpoch],
])

/** A pre-commitment whose price is asked: its commitments may be missing, as in Lotus. */
export interface AskedPreCommit extends Omit<SectorPreCommitInfo, 'sealedCid'> {
  readonly sealedCid: Cid | null
}

export const askedPreCommit: Codec<AskedPreCommit> = struct<AskedPreCommit>('miner.SectorPreCommitInfo', [
  ['sealProof', 'SealProof', registeredSealProof],
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['sealedCid', 'SealedCID', nullable(cid)],
  ['sealRandEpoch', 'SealRandEpoch', chainEpoch],
  ['dealIds', 'DealIDs', list(dealId)],
  ['expiration', 'Expiration', chainEpoch],
  ['unsealedCid', 'UnsealedCid', nullable(cid)],
])

/** What MinerCreateBlock takes: a block without state, receipts and signature. @see lotus api/api_full.go BlockTemplate */
export const blockTemplate: Codec<BlockTemplate> = struct<BlockTemplate>('api.BlockTemplate', [
  ['miner', 'Miner', address],
  ['parents', 'Parents', tipsetKey],
  ['ticket', 'Ticket', nullable(ticket)],
  ['electionProof', 'Eproof', nullable(electionProof)],
  ['beaconValues', 'BeaconValues', list(beaconEntry) as Codec<BlockTemplate['beaconValues']>],
  ['messages', 'Messages', list(signedMessage) as Codec<BlockTemplate['messages']>],
  ['epoch', 'Epoch', chainEpoch],
  ['timestamp', 'Timestamp', uint],
  ['winningPoStProof', 'WinningPoStProof', list(poStProof) as Codec<BlockTemplate['winningPoStProof']>],
])
