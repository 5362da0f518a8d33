/** State of the power actor (f04). @see go-state-types builtin/v8 … v18/power; specs-actors v0.9.14 … v7.0.1 */
import type { Cid } from '../codec/cid.ts'
import { bytesOrEmpty, type Codec, cid, int, nullable, tuple, uint } from '../codec/description.ts'
import { type Address, address } from '../types/address.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../types/scalars.ts'
import {
  type FilterEstimate,
  filterEstimate,
  registeredPoStProof,
  registeredSealProof,
  type StoragePower,
  storagePower,
} from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** Power of all miners, and the calls that they have ordered for coming epochs. */
export interface PowerState {
  readonly totalRawBytePower: StoragePower
  /** Counts miners below the minimum too. */
  readonly totalBytesCommitted: StoragePower
  readonly totalQualityAdjPower: StoragePower
  readonly totalQaBytesCommitted: StoragePower
  readonly totalPledgeCollateral: TokenAmount
  readonly thisEpochRawBytePower: StoragePower
  readonly thisEpochQualityAdjPower: StoragePower
  readonly thisEpochPledgeCollateral: TokenAmount
  readonly thisEpochQaPowerSmoothed: FilterEstimate
  readonly minerCount: number
  readonly minerAboveMinPowerCount: number
  /** From version 15. */
  readonly rampStartEpoch: ChainEpoch
  /** From version 15. */
  readonly rampDurationEpochs: number
  /** HAMT (bit width 6) of epoch to AMT (bit width 6) of cron events. */
  readonly cronEventQueue: Cid
  readonly firstCronEpoch: ChainEpoch
  /** Only before version 2. */
  readonly lastProcessedCronEpoch?: ChainEpoch
  /** HAMT (bit width 5) of address to claim. */
  readonly claims: Cid
  /** HAMT (bit width 5) of address to AMT (bit width 4) of seals to verify. */
  readonly proofValidationBatch: Cid | null
}

export const powerStateAt: (actorsVersion: number) => Codec<PowerState> = versionedTuple<PowerState>('power.State', [
  ['totalRawBytePower', 'TotalRawBytePower', storagePower],
  ['totalBytesCommitted', 'TotalBytesCommitted', storagePower],
  ['totalQualityAdjPower', 'TotalQualityAdjPower', storagePower],
  ['totalQaBytesCommitted', 'TotalQABytesCommitted', storagePower],
  ['totalPledgeCollateral', 'TotalPledgeCollateral', tokenAmount],
  ['thisEpochRawBytePower', 'ThisEpochRawBytePower', storagePower],
  ['thisEpochQualityAdjPower', 'ThisEpochQualityAdjPower', storagePower],
  ['thisEpochPledgeCollateral', 'ThisEpochPledgeCollateral', tokenAmount],
  ['thisEpochQaPowerSmoothed', 'ThisEpochQAPowerSmoothed', filterEstimate],
  ['minerCount', 'MinerCount', int],
  ['minerAboveMinPowerCount', 'MinerAboveMinPowerCount', int],
  ['rampStartEpoch', 'RampStartEpoch', int, { from: 15 }],
  ['rampDurationEpochs', 'RampDurationEpochs', uint, { from: 15 }],
  ['cronEventQueue', 'CronEventQueue', cid],
  ['firstCronEpoch', 'FirstCronEpoch', chainEpoch],
  ['lastProcessedCronEpoch', 'LastProcessedCronEpoch', chainEpoch, { until: 0 }],
  ['claims', 'Claims', cid],
  ['proofValidationBatch', 'ProofValidationBatch', nullable(cid)],
])
export const powerState: Codec<PowerState> = powerStateAt(18)

/** Fields of the layouts: versions 0, 2 to 14, from 15 on. */
const VERSION_BY_FIELDS: Readonly<Record<number, number>> = { 16: 0, 15: 14, 17: 18 }

/** Reads any version's state by its number of fields, where the actor's code is not at hand. Writes the newest. */
export const anyPowerState: Codec<PowerState> = {
  ...powerState,
  read: (reader) => {
    const start = reader.offset
    const fields = reader.readArray()
    reader.offset = start
    return powerStateAt(VERSION_BY_FIELDS[fields] ?? 18).read(reader)
  },
}

/** A miner's power as the power actor counts it. */
export interface PowerClaim {
  /** Only in version 2. */
  readonly sealProofType?: number
  /** From version 3. */
  readonly windowPoStProofType: number
  readonly rawBytePower: StoragePower
  readonly qualityAdjPower: StoragePower
}

/** Codec of {@link PowerClaim} in an actors version; before 2 a claim names no kind of proof. */
export const powerClaimAt: (actorsVersion: number) => Codec<PowerClaim> = versionedTuple<PowerClaim>('power.Claim', [
  ['sealProofType', 'SealProofType', registeredSealProof, { from: 2, until: 2 }],
  ['windowPoStProofType', 'WindowPoStProofType', registeredPoStProof, { from: 3 }],
  ['rawBytePower', 'RawBytePower', storagePower],
  ['qualityAdjPower', 'QualityAdjPower', storagePower],
])
export const powerClaim: Codec<PowerClaim> = powerClaimAt(18)

/** A call that a miner asked for. */
export interface CronEvent {
  readonly minerAddr: Address
  readonly callbackPayload: Uint8Array
}

export const cronEvent: Codec<CronEvent> = tuple<CronEvent>('power.CronEvent', [
  ['minerAddr', 'MinerAddr', address],
  ['callbackPayload', 'CallbackPayload', bytesOrEmpty],
])
