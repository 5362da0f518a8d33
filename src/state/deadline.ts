/** Deadlines and partitions of a miner. @see go-state-types builtin/v8 … v18/miner; specs-actors v0.9.14 … v7.0.1 */

import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, list, tuple, uint } from '../codec/description.ts'
import { type BitField, bitField } from '../ipld/bitfield.ts'
import { type PoStProof, poStProof } from '../types/blockHeader.ts'
import { EPOCHS_PER_DAY } from '../types/protocol.ts'
import { type ChainEpoch, type TokenAmount, tokenAmount } from '../types/scalars.ts'
import { optionalTail } from './optionalTail.ts'
import { type PowerPair, powerPair } from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** Epochs in a proving period, on every network. */
export const PROVING_PERIOD: ChainEpoch = EPOCHS_PER_DAY
/** Epochs in which a deadline's proofs may be sent. */
export const CHALLENGE_WINDOW: ChainEpoch = 60
/** Deadlines in a proving period. */
export const DEADLINES_PER_PERIOD = 48

/** The deadlines of a miner's proving period, in order. */
export interface Deadlines {
  /** Blocks: {@link Deadline}, 48 of them. */
  readonly due: Cid[]
}

export const deadlines: Codec<Deadlines> = tuple<Deadlines>('miner.Deadlines', [
  ['due', 'Due', list(cid, DEADLINES_PER_PERIOD)],
])

/** One deadline: its partitions, their expirations, and what was proven in this period. */
export interface Deadline {
  /** AMT (bit width 3) of partitions. */
  readonly partitions: Cid
  /** AMT (bit width 5) of epoch to bit field of partitions. */
  readonly expirationsEpochs: Cid
  /** Partitions proven in this period. */
  readonly partitionsPoSted: BitField
  /** Partitions with early terminations to process. */
  readonly earlyTerminations: BitField
  readonly liveSectors: number
  readonly totalSectors: number
  readonly faultyPower: PowerPair
  /** AMT (bit width 2) of window PoSts not yet checked. From version 3. */
  readonly optimisticPoStSubmissions: Cid
  /** From version 7. */
  readonly sectorsSnapshot: Cid
  /** From version 3. */
  readonly partitionsSnapshot: Cid
  /** From version 3. */
  readonly optimisticPoStSubmissionsSnapshot: Cid
  /** From version 16. */
  readonly livePower: PowerPair
  /** From version 16. */
  readonly dailyFee: TokenAmount
}

export const deadlineAt: (actorsVersion: number) => Codec<Deadline> = versionedTuple<Deadline>('miner.Deadline', [
  ['partitions', 'Partitions', cid],
  ['expirationsEpochs', 'ExpirationsEpochs', cid],
  ['partitionsPoSted', 'PostSubmissions', bitField, { until: 2 }],
  ['partitionsPoSted', 'PartitionsPoSted', bitField, { from: 3 }],
  ['earlyTerminations', 'EarlyTerminations', bitField],
  ['liveSectors', 'LiveSectors', uint],
  ['totalSectors', 'TotalSectors', uint],
  ['faultyPower', 'FaultyPower', powerPair],
  ['optimisticPoStSubmissions', 'OptimisticPoStSubmissions', cid, { from: 3 }],
  ['sectorsSnapshot', 'SectorsSnapshot', cid, { from: 7 }],
  ['partitionsSnapshot', 'PartitionsSnapshot', cid, { from: 3 }],
  ['optimisticPoStSubmissionsSnapshot', 'OptimisticPoStSubmissionsSnapshot', cid, { from: 3 }],
  ['livePower', 'LivePower', powerPair, { from: 16 }],
  ['dailyFee', 'DailyFee', tokenAmount, { from: 16 }],
])
export const deadline: Codec<Deadline> = deadlineAt(18)

/** Sectors that are proven together; the sets are of sector numbers. */
export interface Partition {
  readonly sectors: BitField
  /** From version 2. */
  readonly unproven: BitField
  readonly faults: BitField
  readonly recoveries: BitField
  readonly terminated: BitField
  /** AMT (bit width 4) of epoch to expiration set. */
  readonly expirationsEpochs: Cid
  /** AMT (bit width 3) of epoch to bit field. */
  readonly earlyTerminated: Cid
  readonly livePower: PowerPair
  /** From version 2. */
  readonly unprovenPower: PowerPair
  readonly faultyPower: PowerPair
  readonly recoveringPower: PowerPair
}

export const partitionAt: (actorsVersion: number) => Codec<Partition> = versionedTuple<Partition>('miner.Partition', [
  ['sectors', 'Sectors', bitField],
  ['unproven', 'Unproven', bitField, { from: 2 }],
  ['faults', 'Faults', bitField],
  ['recoveries', 'Recoveries', bitField],
  ['terminated', 'Terminated', bitField],
  ['expirationsEpochs', 'ExpirationsEpochs', cid],
  ['earlyTerminated', 'EarlyTerminated', cid],
  ['livePower', 'LivePower', powerPair],
  ['unprovenPower', 'UnprovenPower', powerPair, { from: 2 }],
  ['faultyPower', 'FaultyPower', powerPair],
  ['recoveringPower', 'RecoveringPower', powerPair],
])
export const partition: Codec<Partition> = partitionAt(18)

/** Sectors of a partition that leave it in one epoch: on time, or early because they are faulty. */
export interface ExpirationSet {
  readonly onTimeSectors: BitField
  readonly earlySectors: BitField
  readonly onTimePledge: TokenAmount
  readonly activePower: PowerPair
  readonly faultyPower: PowerPair
  /** From version 16. */
  readonly feeDeduction: TokenAmount
}

const expirationLayout = versionedTuple<ExpirationSet>('miner.ExpirationSet', [
  ['onTimeSectors', 'OnTimeSectors', bitField],
  ['earlySectors', 'EarlySectors', bitField],
  ['onTimePledge', 'OnTimePledge', tokenAmount],
  ['activePower', 'ActivePower', powerPair],
  ['faultyPower', 'FaultyPower', powerPair],
  ['feeDeduction', 'FeeDeduction', tokenAmount, { from: 16 }],
])

const FIELDS_V16 = 6

/** From version 16 on; a set that was written before lacks the fee, which is zero then. */
export const expirationSet: Codec<ExpirationSet> = optionalTail(
  expirationLayout(18),
  FIELDS_V16,
  expirationLayout(15),
  (value) => ({ ...value, feeDeduction: 0n }),
)

/** A window PoSt that was accepted without checking. */
export interface WindowedPoSt {
  readonly partitions: BitField
  readonly proofs: PoStProof[]
}

export const windowedPoSt: Codec<WindowedPoSt> = tuple<WindowedPoSt>('miner.WindowedPoSt', [
  ['partitions', 'Partitions', bitField],
  ['proofs', 'Proofs', list(poStProof)],
])
