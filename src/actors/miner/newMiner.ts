/**
 * State of a miner without sectors.
 * @see builtin-actors v18 actors/miner/src/state.rs State::new, MinerInfo::new; deadline_state.rs Deadline::new
 */
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/codec.ts'
import { Amt } from '../../ipld/amt.ts'
import { bitField, EMPTY_BIT_FIELD } from '../../ipld/bitfield.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import { Hamt } from '../../ipld/hamt.ts'
import {
  CHALLENGE_WINDOW,
  DEADLINES_PER_PERIOD,
  type Deadline,
  deadline,
  deadlines,
  partition,
  windowedPoSt,
} from '../../state/deadline.ts'
import type { MinerInfo, MinerState } from '../../state/miner.ts'
import type { PowerPair } from '../../state/scalars.ts'
import { sectorOnChainInfo, sectorPreCommitOnChainInfo } from '../../state/sector.ts'
import type { Address } from '../../types/address.ts'
import type { ChainEpoch } from '../../types/scalars.ts'

/** Where a state's blocks go. */
export interface StateWriter {
  readonly store: Blockstore
  putCbor<T>(codec: Codec<T>, value: T): Cid
}

/** Zero bytes, raw and quality adjusted. */
export const NO_POWER: PowerPair = { raw: 0n, qa: 0n }

/** Bits per level of the AMTs in a miner's state. */
export const SECTORS_BITS = 5
export const PARTITIONS_BITS = 3
export const DEADLINE_EXPIRATIONS_BITS = 5
const PRE_COMMIT_CLEAN_UP_BITS = 6
const POST_SUBMISSIONS_BITS = 2

function emptyAmt<T>({ store }: StateWriter, codec: Codec<T>, bitWidth: number): Cid {
  return Amt.empty(store, codec, { bitWidth }).flush()
}

/** A deadline without partitions. */
export function emptyDeadline(writer: StateWriter): Deadline {
  const partitions = emptyAmt(writer, partition, PARTITIONS_BITS)
  const expirationsEpochs = emptyAmt(writer, bitField, DEADLINE_EXPIRATIONS_BITS)
  const submissions = emptyAmt(writer, windowedPoSt, POST_SUBMISSIONS_BITS)
  return {
    partitions,
    expirationsEpochs,
    partitionsPoSted: EMPTY_BIT_FIELD,
    earlyTerminations: EMPTY_BIT_FIELD,
    liveSectors: 0,
    totalSectors: 0,
    faultyPower: NO_POWER,
    optimisticPoStSubmissions: submissions,
    sectorsSnapshot: emptyAmt(writer, sectorOnChainInfo, SECTORS_BITS),
    partitionsSnapshot: partitions,
    optimisticPoStSubmissionsSnapshot: submissions,
    livePower: NO_POWER,
    dailyFee: 0n,
  }
}

/**
 * The state of a new miner.
 * @param info - CID of its {@link MinerInfo}
 * @param periodStart - of its proving period, not after `epoch`
 */
export function newMinerState(writer: StateWriter, info: Cid, periodStart: ChainEpoch, epoch: ChainEpoch): MinerState {
  const preCommittedSectors = Hamt.empty(writer.store, sectorPreCommitOnChainInfo).flush()
  const preCommittedSectorsCleanUp = emptyAmt(writer, bitField, PRE_COMMIT_CLEAN_UP_BITS)
  const sectors = emptyAmt(writer, sectorOnChainInfo, SECTORS_BITS)
  const allocatedSectors = writer.putCbor(bitField, EMPTY_BIT_FIELD)
  const empty = writer.putCbor(deadline, emptyDeadline(writer))
  const due = Array.from({ length: DEADLINES_PER_PERIOD }, () => empty)
  return {
    info,
    preCommitDeposits: 0n,
    lockedFunds: 0n,
    vestingFunds: null,
    feeDebt: 0n,
    initialPledge: 0n,
    preCommittedSectors,
    preCommittedSectorsCleanUp,
    allocatedSectors,
    sectors,
    provingPeriodStart: periodStart,
    currentDeadline: Math.floor((epoch - periodStart) / CHALLENGE_WINDOW),
    deadlines: writer.putCbor(deadlines, { due }),
    earlyTerminations: EMPTY_BIT_FIELD,
    deadlineCronActive: false,
  }
}

/** A window PoSt's sector size in bytes and sectors per partition, by registered proof. */
const WINDOW_POST_PROOFS: ReadonlyMap<number, readonly [sectorSize: number, partitionSectors: number]> = new Map([
  [10, [2048, 2]],
  [11, [8 << 20, 2]],
  [12, [512 << 20, 2]],
  [13, [2 ** 35, 2349]],
  [14, [2 ** 36, 2300]],
])

/** Who a new miner is. */
export interface NewMiner {
  /** f0 addresses. */
  readonly owner: Address
  readonly worker: Address
  readonly controlAddresses: Address[]
  readonly peerId: Uint8Array
  readonly multiaddrs: Uint8Array[]
  readonly windowPoStProofType: number
}

/** @returns undefined for a proof that is no window PoSt's */
export function newMinerInfo(miner: NewMiner): MinerInfo | undefined {
  const proof = WINDOW_POST_PROOFS.get(miner.windowPoStProofType)
  if (proof === undefined) return undefined
  const [sectorSize, windowPoStPartitionSectors] = proof
  return {
    ...miner,
    pendingWorkerKey: null,
    sectorSize,
    windowPoStPartitionSectors,
    consensusFaultElapsed: -1,
    pendingOwnerAddress: null,
    beneficiary: miner.owner,
    beneficiaryTerm: { quota: 0n, usedQuota: 0n, expiration: 0n },
    pendingBeneficiaryTerm: null,
  }
}
