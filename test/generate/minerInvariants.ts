/**
 * What a miner's state must fulfil, as builtin-actors names it: read with the codecs, summed up anew from the sectors.
 * @see builtin-actors v18 actors/miner/src/testing.rs check_state_invariants
 */
import { SECTORS_BITS } from '../../src/actors/miner/newMiner.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { type BitField, bitField, bitFieldOf, unionAll } from '../../src/ipld/bitfield.ts'
import { type Blockstore, getCbor } from '../../src/ipld/blockstore.ts'
import {
  CHALLENGE_WINDOW,
  deadline,
  deadlines,
  expirationSet,
  type Partition,
  PROVING_PERIOD,
  partition,
} from '../../src/state/deadline.ts'
import { minerInfo, minerState, vestingFundsTail } from '../../src/state/miner.ts'
import type { PowerPair, SectorNumber } from '../../src/state/scalars.ts'
import { type SectorOnChainInfo, sectorOnChainInfo } from '../../src/state/sector.ts'
import type { ActorState } from '../../src/types/actor.ts'

/** What others can be compared with. */
export interface MinerSummary {
  readonly active: PowerPair
  readonly postProof: number
  readonly pledge: bigint
  readonly locked: bigint
  readonly cronActive: boolean
  readonly sectors: ReadonlyMap<SectorNumber, SectorOnChainInfo>
  readonly problems: readonly string[]
}

/** @see builtin-actors v18 actors/miner/src/policy.rs qa_power_for_weight */
function qaPower(size: bigint, sector: SectorOnChainInfo): bigint {
  const spaceTime = size * BigInt(sector.expiration - sector.powerBaseEpoch)
  const weighted = (spaceTime - sector.verifiedDealWeight) * 10n + sector.verifiedDealWeight * 100n
  return (size * ((weighted << 20n) / spaceTime / 10n)) >> 20n
}

class MinerCheck {
  readonly problems: string[] = []
  readonly #store: Blockstore
  readonly #size: bigint
  readonly #sectors: ReadonlyMap<SectorNumber, SectorOnChainInfo>

  constructor(store: Blockstore, size: bigint, sectors: ReadonlyMap<SectorNumber, SectorOnChainInfo>) {
    this.#store = store
    this.#size = size
    this.#sectors = sectors
  }

  require(holds: boolean, problem: string): void {
    if (!holds) this.problems.push(problem)
  }

  #selected(field: BitField): SectorOnChainInfo[] {
    return [...field].map((number) => {
      const sector = this.#sectors.get(number)
      if (sector === undefined) throw new Error(`sector ${number} is in a partition and not among the sectors`)
      return sector
    })
  }

  #power(field: BitField): PowerPair {
    const chosen = this.#selected(field)
    return {
      raw: this.#size * BigInt(chosen.length),
      qa: chosen.reduce((sum, sector) => sum + qaPower(this.#size, sector), 0n),
    }
  }

  #same(what: string, a: PowerPair, b: PowerPair): void {
    this.require(a.raw === b.raw && a.qa === b.qa, `${what}: ${a.raw}/${a.qa}, expected ${b.raw}/${b.qa}`)
  }

  /**
   * What a partition says of its sectors among each other.
   * @returns those that live
   */
  #sets(name: string, { sectors, faults, recoveries, unproven, terminated }: Partition): BitField {
    const live = sectors.subtract(terminated)
    this.require(sectors.containsAll(terminated), `${name} has ended sectors of others`)
    this.require(live.containsAll(faults) && live.containsAll(unproven), `${name} has dead sectors that are faulty`)
    this.require(!faults.containsAny(unproven), `${name} has faulty sectors that are new`)
    this.require(faults.containsAll(recoveries), `${name} recovers sectors that are not faulty`)
    return live
  }

  /** @param last - last epoch of the deadline's first window, negative or not */
  partition(name: string, one: Partition, last: number): PartitionSummary {
    const live = this.#sets(name, one)
    this.#same(`${name} live power`, one.livePower, this.#power(live))
    this.#same(`${name} faulty power`, one.faultyPower, this.#power(one.faults))
    this.#same(`${name} unproven power`, one.unprovenPower, this.#power(one.unproven))
    this.#same(`${name} recovering power`, one.recoveringPower, this.#power(one.recoveries))
    const epochs: number[] = []
    const queued: BitField[] = []
    let fee = 0n
    Amt.load(this.#store, one.expirationsEpochs, expirationSet).forEach((epoch, set) => {
      const at = `${name} at ${epoch}`
      epochs.push(epoch)
      queued.push(set.onTimeSectors, set.earlySectors)
      this.require((epoch - last) % PROVING_PERIOD === 0, `${at} is not quantized`)
      for (const { expiration, sectorNumber } of this.#selected(set.onTimeSectors))
        this.require(
          epoch >= expiration && epoch - expiration < PROVING_PERIOD,
          `${name} sector ${sectorNumber} is due at ${epoch}`,
        )
      for (const { expiration, sectorNumber } of this.#selected(set.earlySectors))
        this.require(epoch < expiration, `${name} sector ${sectorNumber} is due early at ${epoch}`)
      this.require(one.faults.containsAll(set.earlySectors), `${at} has sectors that are due early and not faulty`)
      const all = set.onTimeSectors.union(set.earlySectors)
      this.#same(`${at}, active`, set.activePower, this.#power(all.subtract(one.faults)))
      this.#same(`${at}, faulty`, set.faultyPower, this.#power(all.intersect(one.faults)))
      const pledge = this.#selected(set.onTimeSectors).reduce((sum, { initialPledge }) => sum + initialPledge, 0n)
      this.require(set.onTimePledge === pledge, `${at}: pledge`)
      const fees = this.#selected(all).reduce((sum, { dailyFee }) => sum + dailyFee, 0n)
      this.require(set.feeDeduction === fees, `${at}: fee`)
      fee += fees
    })
    const total = queued.reduce((sum, field) => sum + field.count, 0)
    const isWhole = total === live.count && unionAll(queued).equals(live)
    this.require(isWhole, `${name} queue and sectors differ`)
    const active = less(less(one.livePower, one.faultyPower), one.unprovenPower)
    const pledge = this.#selected(live).reduce((sum, { initialPledge }) => sum + initialPledge, 0n)
    return { fee, epochs, live: live.count, active, pledge }
  }
}

/** Of one partition. */
interface PartitionSummary {
  readonly fee: bigint
  /** When some of it expires. */
  readonly epochs: readonly number[]
  readonly live: number
  readonly active: PowerPair
  /** Of those that live. */
  readonly pledge: bigint
}

function plus(a: PowerPair, b: PowerPair): PowerPair {
  return { raw: a.raw + b.raw, qa: a.qa + b.qa }
}

function less(a: PowerPair, b: PowerPair): PowerPair {
  return { raw: a.raw - b.raw, qa: a.qa - b.qa }
}

/** Everything about one miner. */
export function checkMiner(store: Blockstore, name: string, actor: ActorState): MinerSummary {
  const state = getCbor(store, minerState, actor.head)
  const info = getCbor(store, minerInfo, state.info)
  const sectors = new Map<SectorNumber, SectorOnChainInfo>()
  Amt.load(store, state.sectors, sectorOnChainInfo, { bitWidth: SECTORS_BITS }).forEach((number, sector) => {
    sectors.set(number, sector)
  })
  const check = new MinerCheck(store, BigInt(info.sectorSize), sectors)
  const allocated = getCbor(store, bitField, state.allocatedSectors)
  for (const [number, sector] of sectors) {
    check.require(allocated.has(number) && sector.sectorNumber === number, `${name} sector ${number} is not allocated`)
    check.require(sector.powerBaseEpoch < sector.expiration, `${name} sector ${number} expires before it begins`)
  }
  let active: PowerPair = { raw: 0n, qa: 0n }
  let pledge = 0n
  const inPartitions: BitField[] = []
  getCbor(store, deadlines, state.deadlines).due.forEach((link, at) => {
    const one = getCbor(store, deadline, link)
    const last = state.provingPeriodStart + CHALLENGE_WINDOW * (at + 1) - 1
    let [live, total, fee] = [0, 0, 0n]
    let power: PowerPair = { raw: 0n, qa: 0n }
    let faulty: PowerPair = { raw: 0n, qa: 0n }
    const due = new Map<number, number[]>()
    Amt.load(store, one.partitions, partition).forEach((index, part) => {
      const found = check.partition(`${name} deadline ${at} partition ${index}`, part, last)
      for (const epoch of found.epochs) due.set(epoch, [...(due.get(epoch) ?? []), index])
      fee += found.fee
      live += found.live
      total += part.sectors.count
      pledge += found.pledge
      power = plus(power, part.livePower)
      faulty = plus(faulty, part.faultyPower)
      active = plus(active, found.active)
      inPartitions.push(part.sectors)
    })
    check.require(
      one.liveSectors === live && one.totalSectors === total,
      `${name} deadline ${at} counts ${one.liveSectors}`,
    )
    check.require(one.livePower.qa === power.qa && one.livePower.raw === power.raw, `${name} deadline ${at} power`)
    const isFaulty = one.faultyPower.qa === faulty.qa && one.faultyPower.raw === faulty.raw
    check.require(isFaulty, `${name} deadline ${at} faulty power`)
    check.require(one.dailyFee === fee, `${name} deadline ${at} fee ${one.dailyFee}, expected ${fee}`)
    // More may stand there: what was moved to another epoch is not taken out.
    const kept = Amt.load(store, one.expirationsEpochs, bitField)
    for (const [epoch, indices] of due) {
      const field = kept.get(epoch)
      check.require(field?.containsAll(bitFieldOf(indices)) === true, `${name} deadline ${at} queue at ${epoch}`)
    }
  })
  const total = inPartitions.reduce((sum, field) => sum + field.count, 0)
  check.require(
    total === sectors.size && unionAll(inPartitions).count === total,
    `${name} sectors in no or two partitions`,
  )
  check.require(state.initialPledge === pledge, `${name} pledge`)
  const vesting =
    state.vestingFunds === null
      ? []
      : [state.vestingFunds.head, ...getCbor(store, vestingFundsTail, state.vestingFunds.tail)]
  check.require(state.lockedFunds === vesting.reduce((sum, { amount }) => sum + amount, 0n), `${name} locked funds`)
  for (const { epoch, amount } of vesting)
    check.require(
      amount > 0n && (epoch - state.provingPeriodStart) % CHALLENGE_WINDOW === 0,
      `${name} vests at ${epoch}`,
    )
  check.require(actor.balance >= state.lockedFunds + state.initialPledge + state.preCommitDeposits, `${name} balance`)
  return {
    active,
    postProof: info.windowPoStProofType,
    pledge: state.initialPledge,
    locked: state.lockedFunds,
    cronActive: state.deadlineCronActive,
    sectors,
    problems: check.problems,
  }
}
