/**
 * What a miner's state must fulfil, as builtin-actors names it: read with the codecs, summed up anew from the sectors.
 * @see builtin-actors v18 actors/miner/src/testing.rs check_state_invariants
 */
import { SECTORS_BITS } from '../../src/actors/miner/newMiner.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { type BitField, bitField, unionAll } from '../../src/ipld/bitfield.ts'
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

  /** @param last - last epoch of the deadline's first window, negative or not */
  partition(name: string, one: Partition, last: number): { fee: bigint; epochs: number[] } {
    this.#same(`${name} live power`, one.livePower, this.#power(one.sectors))
    this.require(one.faults.isEmpty && one.unproven.isEmpty && one.terminated.isEmpty, `${name} is not healthy`)
    const epochs: number[] = []
    const queued: BitField[] = []
    let fee = 0n
    Amt.load(this.#store, one.expirationsEpochs, expirationSet).forEach((epoch, set) => {
      epochs.push(epoch)
      queued.push(set.onTimeSectors)
      this.require((epoch - last) % PROVING_PERIOD === 0, `${name} expires at ${epoch}, which is not quantized`)
      const chosen = this.#selected(set.onTimeSectors)
      for (const { expiration, sectorNumber } of chosen)
        this.require(
          epoch >= expiration && epoch - expiration < PROVING_PERIOD,
          `${name} sector ${sectorNumber} is due at ${epoch}`,
        )
      this.#same(`${name} at ${epoch}`, set.activePower, this.#power(set.onTimeSectors))
      const pledge = chosen.reduce((sum, { initialPledge }) => sum + initialPledge, 0n)
      this.require(set.onTimePledge === pledge, `${name} pledge at ${epoch}`)
      const fees = chosen.reduce((sum, { dailyFee }) => sum + dailyFee, 0n)
      this.require(set.feeDeduction === fees, `${name} fee at ${epoch}`)
      fee += fees
    })
    const total = queued.reduce((sum, field) => sum + field.count, 0)
    this.require(total === one.sectors.count && unionAll(queued).count === total, `${name} queue and sectors differ`)
    return { fee, epochs }
  }
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
  const inPartitions: BitField[] = []
  getCbor(store, deadlines, state.deadlines).due.forEach((link, at) => {
    const one = getCbor(store, deadline, link)
    const last = state.provingPeriodStart + CHALLENGE_WINDOW * (at + 1) - 1
    let live = 0
    let fee = 0n
    let power: PowerPair = { raw: 0n, qa: 0n }
    const due = new Map<number, number[]>()
    Amt.load(store, one.partitions, partition).forEach((index, part) => {
      const found = check.partition(`${name} deadline ${at} partition ${index}`, part, last)
      for (const epoch of found.epochs) due.set(epoch, [...(due.get(epoch) ?? []), index])
      fee += found.fee
      live += part.sectors.count
      power = { raw: power.raw + part.livePower.raw, qa: power.qa + part.livePower.qa }
      inPartitions.push(part.sectors)
    })
    check.require(
      one.liveSectors === live && one.totalSectors === live,
      `${name} deadline ${at} counts ${one.liveSectors}`,
    )
    check.require(one.livePower.qa === power.qa && one.livePower.raw === power.raw, `${name} deadline ${at} power`)
    check.require(one.dailyFee === fee, `${name} deadline ${at} fee ${one.dailyFee}, expected ${fee}`)
    const kept = new Map<number, SectorNumber[]>()
    Amt.load(store, one.expirationsEpochs, bitField).forEach((epoch, field) => {
      kept.set(epoch, [...field])
    })
    check.require(
      JSON.stringify([...kept]) === JSON.stringify([...due].sort(([a], [b]) => a - b)),
      `${name} deadline ${at} queue`,
    )
    active = { raw: active.raw + power.raw, qa: active.qa + power.qa }
  })
  const total = inPartitions.reduce((sum, field) => sum + field.count, 0)
  check.require(
    total === sectors.size && unionAll(inPartitions).count === total,
    `${name} sectors in no or two partitions`,
  )
  const pledge = [...sectors.values()].reduce((sum, { initialPledge }) => sum + initialPledge, 0n)
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
