/** Parameters and return values of the power actor. @see go-state-types builtin/v9 … v18/power */

import type { Codec } from '../../codec/codec.ts'
import { bool, bytes, int, list, tuple, uint } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import {
  type FilterEstimate,
  filterEstimate,
  registeredPoStProof,
  type StoragePower,
  storagePower,
} from '../scalars.ts'

/** Owner and worker (a BLS account), and the window proof, which fixes the sector size; a peer ID and multiaddrs in bytes. */
export interface CreateMinerParams {
  readonly owner: Address
  readonly worker: Address
  readonly windowPoStProofType: number
  readonly peer: Uint8Array
  readonly multiaddrs: Uint8Array[]
}

export const createMinerParams: Codec<CreateMinerParams> = tuple<CreateMinerParams>('power.CreateMinerParams', [
  ['owner', 'Owner', address],
  ['worker', 'Worker', address],
  ['windowPoStProofType', 'WindowPoStProofType', registeredPoStProof],
  ['peer', 'Peer', bytes],
  ['multiaddrs', 'Multiaddrs', list(bytes)],
])

/** The new miner's f0 and f2 address. */
export interface CreateMinerReturn {
  readonly idAddress: Address
  readonly robustAddress: Address
}

export const createMinerReturn: Codec<CreateMinerReturn> = tuple<CreateMinerReturn>('power.CreateMinerReturn', [
  ['idAddress', 'IDAddress', address],
  ['robustAddress', 'RobustAddress', address],
])

/** What a miner gains or, negative, loses: bytes, and bytes by quality. From the miner itself. */
export interface UpdateClaimedPowerParams {
  readonly rawByteDelta: StoragePower
  readonly qualityAdjustedDelta: StoragePower
}

export const updateClaimedPowerParams: Codec<UpdateClaimedPowerParams> = tuple<UpdateClaimedPowerParams>(
  'power.UpdateClaimedPowerParams',
  [
    ['rawByteDelta', 'RawByteDelta', storagePower],
    ['qualityAdjustedDelta', 'QualityAdjustedDelta', storagePower],
  ],
)

/** At which epoch the caller (a miner) is to be called, with CBOR that it gets back. */
export interface EnrollCronEventParams {
  readonly eventEpoch: ChainEpoch
  readonly payload: Uint8Array
}

export const enrollCronEventParams: Codec<EnrollCronEventParams> = tuple<EnrollCronEventParams>(
  'power.EnrollCronEventParams',
  [
    ['eventEpoch', 'EventEpoch', chainEpoch],
    ['payload', 'Payload', bytes],
  ],
)

/** The network's power at the last epoch's end in bytes, its pledge in attoFIL, and since v15 FIP-0081's ramp (epochs). */
export interface CurrentTotalPowerReturn {
  readonly rawBytePower: StoragePower
  readonly qualityAdjPower: StoragePower
  readonly pledgeCollateral: TokenAmount
  readonly qualityAdjPowerSmoothed: FilterEstimate
  readonly rampStartEpoch: number
  readonly rampDurationEpochs: number
}

export const currentTotalPowerReturn: Codec<CurrentTotalPowerReturn> = tuple<CurrentTotalPowerReturn>(
  'power.CurrentTotalPowerReturn',
  [
    ['rawBytePower', 'RawBytePower', storagePower],
    ['qualityAdjPower', 'QualityAdjPower', storagePower],
    ['pledgeCollateral', 'PledgeCollateral', tokenAmount],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
    ['rampStartEpoch', 'RampStartEpoch', int],
    ['rampDurationEpochs', 'RampDurationEpochs', uint],
  ],
)

/** A miner's raw power in bytes, and whether it is enough to win blocks. */
export interface MinerRawPowerReturn {
  readonly rawBytePower: StoragePower
  readonly meetsConsensusMinimum: boolean
}

export const minerRawPowerReturn: Codec<MinerRawPowerReturn> = tuple<MinerRawPowerReturn>('power.MinerRawPowerReturn', [
  ['rawBytePower', 'RawBytePower', storagePower],
  ['meetsConsensusMinimum', 'MeetsConsensusMinimum', bool],
])

/** What the power actor gives a new miner through the init actor. */
export interface MinerConstructorParams {
  readonly ownerAddr: Address
  readonly workerAddr: Address
  readonly controlAddrs: Address[]
  readonly windowPoStProofType: number
  readonly peerId: Uint8Array
  readonly multiaddrs: Uint8Array[]
}

export const minerConstructorParams: Codec<MinerConstructorParams> = tuple<MinerConstructorParams>(
  'power.MinerConstructorParams',
  [
    ['ownerAddr', 'OwnerAddr', address],
    ['workerAddr', 'WorkerAddr', address],
    ['controlAddrs', 'ControlAddrs', list(address)],
    ['windowPoStProofType', 'WindowPoStProofType', registeredPoStProof],
    ['peerId', 'PeerId', bytes],
    ['multiaddrs', 'Multiaddrs', list(bytes)],
  ],
)

/** Layout up to version 14. */
export interface CurrentTotalPowerReturnUpToV14 {
  readonly rawBytePower: StoragePower
  readonly qualityAdjPower: StoragePower
  readonly pledgeCollateral: TokenAmount
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

export const currentTotalPowerReturnUpToV14: Codec<CurrentTotalPowerReturnUpToV14> =
  tuple<CurrentTotalPowerReturnUpToV14>('power.CurrentTotalPowerReturn', [
    ['rawBytePower', 'RawBytePower', storagePower],
    ['qualityAdjPower', 'QualityAdjPower', storagePower],
    ['pledgeCollateral', 'PledgeCollateral', tokenAmount],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ])
