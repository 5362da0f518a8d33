/**
 * State of a genesis miner: one sector in the first partition of the first deadline, so that it has power. As Lotus'
 * genesis leaves a presealed sector, with two differences: no deal is in it, and cron does not call the miner, since
 * nobody proves its storage.
 * @see lotus chain/gen/genesis/miners.go SetupStorageMiners; builtin-actors v18 actors/miner/src
 */
import { EMPTY_BYTES } from '../../base/bytes.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/description.ts'
import { blake2b256 } from '../../crypto/blake2b.ts'
import { Amt } from '../../ipld/amt.ts'
import { type BitField, bitField, bitFieldOf, EMPTY_BIT_FIELD } from '../../ipld/bitfield.ts'
import { type Blockstore, putCbor } from '../../ipld/blockstore.ts'
import {
  CHALLENGE_WINDOW,
  DEADLINES_PER_PERIOD,
  type Deadline,
  deadline,
  deadlines,
  type ExpirationSet,
  expirationSet,
  type Partition,
  PROVING_PERIOD,
  partition,
} from '../../state/deadline.ts'
import { minerInfo, minerState } from '../../state/miner.ts'
import type { PowerPair } from '../../state/scalars.ts'
import { sectorOnChainInfo } from '../../state/sector.ts'
import type { Address } from '../../types/address.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import { ActorsError } from '../errors.ts'
import {
  DEADLINE_EXPIRATIONS_BITS,
  emptyDeadline,
  NO_POWER,
  newMinerInfo,
  newMinerState,
  PARTITIONS_BITS,
  SECTORS_BITS,
  type StateWriter,
} from '../miner/newMiner.ts'
import { newSector } from '../miner/newSector.ts'
import { provingPeriodStart } from '../miner/provingPeriod.ts'
import { quantizeUp } from '../quantize.ts'

/** RegisteredSealProof StackedDRG2KiBV1P1, RegisteredPoStProof StackedDRGWindow2KiBV1P1. */
const SEAL_PROOF = 5
/** StackedDRGWindow2KiBV1P1: the window proof of every genesis miner. */
export const WINDOW_POST_PROOF = 10
/** Bytes. */
export const SECTOR_SIZE = 2048
const SECTOR_NUMBER = 1
/** Proving periods that Lotus gives a presealed sector. */
const LIFETIME_PERIODS = 1277

const PARTITION_EXPIRATIONS_BITS = 4
const EARLY_TERMINATED_BITS = 3

const SECTOR_POWER: PowerPair = { raw: BigInt(SECTOR_SIZE), qa: BigInt(SECTOR_SIZE) }

function amt<T>(store: Blockstore, codec: Codec<T>, bitWidth: number, ...entries: readonly [number, T][]): Cid {
  const out = Amt.empty(store, codec, { bitWidth })
  for (const [index, value] of entries) out.set(index, value)
  return out.flush()
}

function sectorPartition(store: Blockstore, sectors: BitField, expiration: ChainEpoch): Partition {
  const expiring: ExpirationSet = {
    onTimeSectors: sectors,
    earlySectors: EMPTY_BIT_FIELD,
    onTimePledge: 0n,
    activePower: SECTOR_POWER,
    faultyPower: NO_POWER,
    feeDeduction: 0n,
  }
  return {
    sectors,
    unproven: EMPTY_BIT_FIELD,
    faults: EMPTY_BIT_FIELD,
    recoveries: EMPTY_BIT_FIELD,
    terminated: EMPTY_BIT_FIELD,
    expirationsEpochs: amt(store, expirationSet, PARTITION_EXPIRATIONS_BITS, [expiration, expiring]),
    earlyTerminated: amt(store, bitField, EARLY_TERMINATED_BITS),
    livePower: SECTOR_POWER,
    unprovenPower: NO_POWER,
    faultyPower: NO_POWER,
    recoveringPower: NO_POWER,
  }
}

function createDeadlines(writer: StateWriter, periodStart: ChainEpoch, expiration: ChainEpoch): Cid {
  const { store } = writer
  const empty = emptyDeadline(writer)
  // Expirations are processed at the last epoch of the sector's deadline.
  const due = quantizeUp(expiration, PROVING_PERIOD, periodStart + CHALLENGE_WINDOW - 1)
  const first: Deadline = {
    ...empty,
    partitions: amt(store, partition, PARTITIONS_BITS, [0, sectorPartition(store, bitFieldOf([SECTOR_NUMBER]), due)]),
    expirationsEpochs: amt(store, bitField, DEADLINE_EXPIRATIONS_BITS, [due, bitFieldOf([0])]),
    liveSectors: 1,
    totalSectors: 1,
    livePower: SECTOR_POWER,
  }
  const emptyCid = writer.putCbor(deadline, empty)
  const list = Array.from({ length: DEADLINES_PER_PERIOD }, () => emptyCid)
  list[0] = writer.putCbor(deadline, first)
  return writer.putCbor(deadlines, { due: list })
}

/**
 * Writes the state of a miner.
 * @param miner - its f0 address
 * @param worker - f0 address of owner and worker
 * @returns the state's CID
 */
export function createMinerState(store: Blockstore, miner: Address, worker: Address): Cid {
  const writer: StateWriter = { store, putCbor: (codec, value) => putCbor(store, codec, value) }
  const info = newMinerInfo({
    owner: worker,
    worker,
    controlAddresses: [],
    peerId: EMPTY_BYTES,
    multiaddrs: [],
    windowPoStProofType: WINDOW_POST_PROOF,
  })
  if (info === undefined) throw new ActorsError('GENESIS_INVALID', `Cannot make genesis: proof ${WINDOW_POST_PROOF}`)
  const periodStart = provingPeriodStart(miner, 0)
  const expiration = LIFETIME_PERIODS * PROVING_PERIOD + periodStart - 1
  const sector = newSector(SECTOR_NUMBER, SEAL_PROOF, blake2b256(miner.bytes), expiration)
  return putCbor(store, minerState, {
    ...newMinerState(writer, putCbor(store, minerInfo, info), periodStart, 0),
    allocatedSectors: putCbor(store, bitField, bitFieldOf([SECTOR_NUMBER])),
    sectors: amt(store, sectorOnChainInfo, SECTORS_BITS, [SECTOR_NUMBER, sector]),
    deadlines: createDeadlines(writer, periodStart, expiration),
  })
}
