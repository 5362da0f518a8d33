/**
 * State of a miner with all its sectors proven: deadlines, partitions, their queues of expirations, vesting rewards.
 * @see builtin-actors v18 actors/miner/src/state.rs, deadline_state.rs, partition_state.rs, testing.rs
 */

import {
  DEADLINE_EXPIRATIONS_BITS,
  emptyDeadline,
  NO_POWER,
  newMinerInfo,
  newMinerState,
  PARTITIONS_BITS,
  SECTORS_BITS,
  type StateWriter,
} from '../../../src/actors/miner/newMiner.ts'
import { provingPeriodStart } from '../../../src/actors/miner/provingPeriod.ts'
import { quantizeUp } from '../../../src/actors/quantize.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { bitField, bitFieldOf, bitFieldOfRuns, EMPTY_BIT_FIELD } from '../../../src/ipld/bitfield.ts'
import { type Blockstore, putCbor } from '../../../src/ipld/blockstore.ts'
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
} from '../../../src/state/deadline.ts'
import { minerInfo, minerState, type VestingFund, vestingFundsTail } from '../../../src/state/miner.ts'
import type { PowerPair } from '../../../src/state/scalars.ts'
import { sectorOnChainInfo } from '../../../src/state/sector.ts'
import { idAddress } from '../../../src/types/address.ts'
import { ATTO_PER_FIL, type ChainEpoch, type TokenAmount } from '../../../src/types/scalars.ts'
import { bulkAmt } from './bulkAmt.ts'
import { fillRandom, PURPOSE } from './random.ts'
import {
  dailyFeeOf,
  expirationOf,
  minerId,
  PARTITION_SECTORS,
  pledgeOf,
  qaPowerOf,
  SECTOR_SIZE,
  sectorInfo,
  WINDOW_POST_PROOF,
} from './sectors.ts'
import { firstIdOf, type StateSize } from './size.ts'

const PARTITION_EXPIRATIONS_BITS = 4
const EARLY_TERMINATED_BITS = 3
/** A small miner's sectors are not spread thinner than this. */
const MIN_PARTITION = 32
/** Of a libp2p peer: identity multihash of an Ed25519 key. */
const PEER_ID_PREFIX = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20] as const
const PEER_KEY_BYTES = 32
/** A deposit for a sector is dear where there is little power: what a miner has at hand. */
const AVAILABLE: TokenAmount = 20_000n * ATTO_PER_FIL

const VESTING_ENTRIES = 60
const VESTING_STEP = PROVING_PERIOD / 2
const VESTING_AMOUNT: TokenAmount = ATTO_PER_FIL / 2n

/** The first epoch whose cron runs: what is due before it runs in it, too, and would end the window that has just opened. */
const FIRST_CRON: ChainEpoch = 1

/** What others than the miner's own state have to know of it. */
export interface MadeMiner {
  readonly head: Cid
  readonly sectors: number
  readonly power: PowerPair
  readonly pledge: TokenAmount
  readonly locked: TokenAmount
  readonly balance: TokenAmount
  /** When cron calls it first. */
  readonly cronEpoch: ChainEpoch
}

/** How a miner's sectors are cut: partition `p` is in deadline `p % 48`. */
export function partitionSize(sectors: number): number {
  return Math.min(PARTITION_SECTORS, Math.max(MIN_PARTITION, Math.ceil(sectors / DEADLINES_PER_PERIOD)))
}

/** Which partitions a deadline of a miner has, by their first sectors. */
export function partitionsOf(sectors: number, at: number): { readonly first: number; readonly count: number }[] {
  const size = partitionSize(sectors)
  const out = []
  for (let first = at * size; first < sectors; first += DEADLINES_PER_PERIOD * size) {
    out.push({ first, count: Math.min(size, sectors - first) })
  }
  return out
}

/** The sum of something over sectors. */
function sum(first: number, count: number, of: (sector: number) => bigint): bigint {
  let out = 0n
  for (let sector = first; sector < first + count; sector++) out += of(sector)
  return out
}

function powerOf(first: number, count: number): PowerPair {
  return { raw: SECTOR_SIZE * BigInt(count), qa: sum(first, count, qaPowerOf) }
}

function plus(a: PowerPair, b: PowerPair): PowerPair {
  return { raw: a.raw + b.raw, qa: a.qa + b.qa }
}

class MinerWriter {
  readonly #size: StateSize
  readonly #index: number
  readonly #count: number
  readonly #writer: StateWriter
  readonly #periodStart: ChainEpoch

  constructor(store: Blockstore, size: StateSize, index: number, count: number) {
    this.#size = size
    this.#index = index
    this.#count = count
    this.#writer = { store, putCbor: (codec, value) => putCbor(store, codec, value) }
    const start = provingPeriodStart(idAddress(BigInt(minerId(index))), 0)
    this.#periodStart = start + PROVING_PERIOD === FIRST_CRON ? FIRST_CRON : start
  }

  /** Runs of sectors that expire in one epoch, by epoch. */
  #expirations(first: number, count: number, due: (epoch: ChainEpoch) => ChainEpoch): Map<ChainEpoch, number[][]> {
    const out = new Map<ChainEpoch, number[][]>()
    for (let sector = first; sector < first + count; sector++) {
      const epoch = due(expirationOf(this.#size, this.#index, sector))
      const runs = out.get(epoch)
      const last = runs?.at(-1)
      if (runs === undefined) out.set(epoch, [[sector, 1]])
      else if (last !== undefined && (last[0] as number) + (last[1] as number) === sector)
        last[1] = (last[1] as number) + 1
      else runs.push([sector, 1])
    }
    return out
  }

  #expirationSet(runs: readonly number[][]): ExpirationSet {
    const total = (of: (sector: number) => bigint): bigint =>
      runs.reduce((all, [first, count]) => all + sum(first as number, count as number, of), 0n)
    let at = 0
    const lengths = runs.flatMap(([first, count]) => {
      const gap = (first as number) - at
      at = (first as number) + (count as number)
      return [gap, count as number]
    })
    return {
      onTimeSectors: bitFieldOfRuns(lengths),
      earlySectors: EMPTY_BIT_FIELD,
      onTimePledge: total(pledgeOf),
      activePower: { raw: total(() => SECTOR_SIZE), qa: total(qaPowerOf) },
      faultyPower: NO_POWER,
      feeDeduction: total(dailyFeeOf),
    }
  }

  #partition(first: number, count: number, due: (epoch: ChainEpoch) => ChainEpoch): [Partition, ChainEpoch[]] {
    const { store } = this.#writer
    const sets = [...this.#expirations(first, count, due)].sort(([a], [b]) => a - b)
    const value: Partition = {
      sectors: bitFieldOfRuns([first, count]),
      unproven: EMPTY_BIT_FIELD,
      faults: EMPTY_BIT_FIELD,
      recoveries: EMPTY_BIT_FIELD,
      terminated: EMPTY_BIT_FIELD,
      expirationsEpochs: bulkAmt(
        store,
        expirationSet,
        PARTITION_EXPIRATIONS_BITS,
        sets.map(([epoch, runs]) => [epoch, this.#expirationSet(runs)] as const),
      ),
      earlyTerminated: bulkAmt(store, bitField, EARLY_TERMINATED_BITS, []),
      livePower: powerOf(first, count),
      unprovenPower: NO_POWER,
      faultyPower: NO_POWER,
      recoveringPower: NO_POWER,
    }
    return [value, sets.map(([epoch]) => epoch)]
  }

  #deadline(at: number, isProven: boolean): Deadline {
    const { store } = this.#writer
    const offset = this.#periodStart + CHALLENGE_WINDOW * (at + 1) - 1
    const due = (epoch: ChainEpoch): ChainEpoch => quantizeUp(epoch, PROVING_PERIOD, offset)
    const cut = partitionsOf(this.#count, at)
    if (cut.length === 0) return emptyDeadline(this.#writer)
    const made = cut.map(({ first, count }) => this.#partition(first, count, due))
    const byEpoch = new Map<ChainEpoch, number[]>()
    made.forEach(([, epochs], i) => {
      for (const epoch of epochs) byEpoch.set(epoch, [...(byEpoch.get(epoch) ?? []), i])
    })
    const sectors = cut.reduce((all, { count }) => all + count, 0)
    return {
      ...emptyDeadline(this.#writer),
      partitions: bulkAmt(
        store,
        partition,
        PARTITIONS_BITS,
        made.map(([value], i) => [i, value] as const),
      ),
      expirationsEpochs: bulkAmt(
        store,
        bitField,
        DEADLINE_EXPIRATIONS_BITS,
        [...byEpoch].sort(([a], [b]) => a - b).map(([epoch, partitions]) => [epoch, bitFieldOf(partitions)] as const),
      ),
      // Proven before the state begins.
      partitionsPoSted: isProven ? bitFieldOfRuns([0, cut.length]) : EMPTY_BIT_FIELD,
      liveSectors: sectors,
      totalSectors: sectors,
      livePower: made.reduce((all, [{ livePower }]) => plus(all, livePower), NO_POWER),
      dailyFee: cut.reduce((all, { first, count }) => all + sum(first, count, dailyFeeOf), 0n),
    }
  }

  #deadlines(current: number): Cid {
    const isProven = this.#periodStart + CHALLENGE_WINDOW * current < FIRST_CRON
    const due = Array.from({ length: DEADLINES_PER_PERIOD }, (_, at) =>
      this.#writer.putCbor(deadline, this.#deadline(at, at === current && isProven)),
    )
    return this.#writer.putCbor(deadlines, { due })
  }

  #vesting(): VestingFund[] {
    return Array.from({ length: VESTING_ENTRIES }, (_, i) => ({
      epoch: this.#periodStart + PROVING_PERIOD + VESTING_STEP * (i + 1),
      amount: VESTING_AMOUNT,
    }))
  }

  #info(): Cid {
    const owner = idAddress(BigInt(firstIdOf(this.#size, 'worker') + this.#index))
    const peerId = Uint8Array.of(...PEER_ID_PREFIX, ...new Uint8Array(PEER_KEY_BYTES))
    fillRandom(peerId, PEER_ID_PREFIX.length, this.#size.seed, PURPOSE.address, minerId(this.#index))
    const info = newMinerInfo({
      owner,
      worker: owner,
      controlAddresses: [],
      peerId,
      multiaddrs: [],
      windowPoStProofType: WINDOW_POST_PROOF,
    })
    if (info === undefined) throw new RangeError('no such proof')
    return this.#writer.putCbor(minerInfo, info)
  }

  write(): MadeMiner {
    const { store, putCbor: put } = this.#writer
    const count = this.#count
    const plain = newMinerState(this.#writer, this.#info(), this.#periodStart, FIRST_CRON)
    const [first, ...rest] = this.#vesting() as [VestingFund, ...VestingFund[]]
    const locked = VESTING_AMOUNT * BigInt(VESTING_ENTRIES)
    const pledge = sum(0, count, pledgeOf)
    const sectors = function* (size: StateSize, index: number): Generator<[number, ReturnType<typeof sectorInfo>]> {
      for (let sector = 0; sector < count; sector++) yield [sector, sectorInfo(size, index, sector)]
    }
    const head = put(minerState, {
      ...plain,
      lockedFunds: locked,
      vestingFunds: { head: first, tail: put(vestingFundsTail, rest) },
      initialPledge: pledge,
      allocatedSectors: put(bitField, bitFieldOfRuns([0, count])),
      sectors: bulkAmt(store, sectorOnChainInfo, SECTORS_BITS, sectors(this.#size, this.#index)),
      deadlines: this.#deadlines(plain.currentDeadline),
      deadlineCronActive: true,
    })
    return {
      head,
      sectors: count,
      power: powerOf(0, count),
      pledge,
      locked,
      balance: pledge + locked + AVAILABLE,
      cronEpoch: this.#periodStart + CHALLENGE_WINDOW * (plain.currentDeadline + 1) - 1,
    }
  }
}

/** Writes a miner's state. @param index - of the miner. @param sectors - how many it has */
export function writeMiner(store: Blockstore, size: StateSize, index: number, sectors: number): MadeMiner {
  return new MinerWriter(store, size, index, sectors).write()
}
