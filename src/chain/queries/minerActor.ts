/**
 * A storage miner's state at one version of the actors, read piece by piece.
 * @see lotus chain/actors/builtin/miner
 */
import { finish, type Steps } from '../../base/steps.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/description.ts'
import { varintBytes } from '../../codec/varint.ts'
import { Amt } from '../../ipld/amt.ts'
import { type BitField, bitField, EMPTY_BIT_FIELD, unionAll } from '../../ipld/bitfield.ts'
import { type Blockstore, getCbor } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { eachFound, type Found, present, reading } from '../../ipld/found.ts'
import { Hamt } from '../../ipld/hamt.ts'
import { readTogether } from '../../ipld/readTogether.ts'
import {
  type Deadline,
  deadlineAt,
  deadlines,
  expirationSet,
  type Partition,
  partitionAt,
  windowedPoSt,
} from '../../state/deadline.ts'
import {
  type MinerInfo,
  type MinerState,
  minerInfoAt,
  minerStateAt,
  type VestingFund,
  vestingFundsBlock,
  vestingFundsTail,
} from '../../state/miner.ts'
import type { SectorNumber } from '../../state/scalars.ts'
import {
  type SectorOnChainInfo,
  type SectorPreCommitOnChainInfo,
  sectorOnChainInfoAt,
  sectorPreCommitOnChainInfoAt,
} from '../../state/sector.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { ActorState } from '../../types/actor.ts'
import { type Address, UNDEF_ADDRESS } from '../../types/address.ts'
import type { ChainEpoch, TokenAmount } from '../../types/scalars.ts'
import { actorOf, notOfKind } from '../actorLookup.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'

/** The first version whose trees have the present layouts. */
const FIRST_V3_TREES = 3
/** From this version on the vesting table's first entry is in the state itself. */
const FIRST_SPLIT_VESTING = 16
const FIRST_BENEFICIARY = 9
/** Seal proofs of the sector sizes in order; window PoSt proofs of the same sizes start here. */
const SECTOR_SIZES = 5
const FIRST_WINDOW_PROOF = 5
/** From this version on Lotus shows the last power change of a sector. */
const FIRST_POWER_BASE_EPOCH = 12

/** @see go-state-types abi/sector.go RegisteredSealProof.RegisteredWindowPoStProof */
function windowPoStProof(sealProof: number): number {
  return FIRST_WINDOW_PROOF + (sealProof % SECTOR_SIZES)
}

/** Sectors of a partition that are neither terminated nor faulty nor unproven. */
export function activeSectors(partition: Partition): BitField {
  return liveSectors(partition)
    .subtract(partition.faults)
    .subtract(partition.unproven ?? EMPTY_BIT_FIELD)
}

/** Sectors of a partition that are not terminated. */
export function liveSectors(partition: Partition): BitField {
  return partition.sectors.subtract(partition.terminated)
}

/** A deadline of the proving period, and a partition of it. */
export interface SectorLocation {
  readonly deadline: number
  readonly partition: number
}

/** Epochs; 0: none. `early`: of a faulty sector, when it goes unless it recovers. */
export interface SectorExpiration {
  readonly onTime: ChainEpoch
  readonly early: ChainEpoch
}

/**
 * A miner's actor, sectors, deadlines, vesting funds; its trees are read when they are asked for.
 * @throws BlockMissing, and CodecError where the state is not of the version named
 */
export class MinerActor {
  readonly actor: ActorState
  readonly state: MinerState
  readonly #store: Blockstore
  readonly #version: number

  constructor(store: Blockstore, actor: ActorState, version: number) {
    this.#store = store
    this.#version = version
    this.actor = actor
    this.state = getCbor(store, minerStateAt(version), actor.head)
  }

  #amt<T>(root: Cid, codec: Codec<T>): Amt<T> {
    return Amt.load(this.#store, root, codec, { v0: this.#version < FIRST_V3_TREES })
  }

  /** In the newest form; what an older version lacks is as Lotus shows it. */
  info(): MinerInfo {
    const info = getCbor(this.#store, minerInfoAt(this.#version), this.state.info)
    if (this.#version >= FIRST_BENEFICIARY) return info
    return {
      ...info,
      windowPoStProofType: info.windowPoStProofType ?? windowPoStProof(info.sealProofType ?? 0),
      consensusFaultElapsed: info.consensusFaultElapsed ?? -1,
      pendingOwnerAddress: info.pendingOwnerAddress ?? null,
      beneficiary: UNDEF_ADDRESS,
      beneficiaryTerm: { quota: 0n, usedQuota: 0n, expiration: 0n },
      pendingBeneficiaryTerm: null,
    }
  }

  /** All deadlines of the proving period, in order. */
  deadlines(): Deadline[] {
    const { due } = getCbor(this.#store, deadlines, this.state.deadlines)
    return readTogether(due, (cid) => getCbor(this.#store, deadlineAt(this.#version), cid))
  }

  /** @throws ChainError `OUT_OF_RANGE` */
  deadline(index: number): Deadline {
    const cid = getCbor(this.#store, deadlines, this.state.deadlines).due[index]
    if (cid === undefined) throw new ChainError('NOT_FOUND', `failed to load the deadline: invalid deadline ${index}`)
    return getCbor(this.#store, deadlineAt(this.#version), cid)
  }

  partitions(deadline: Deadline): Partition[] {
    return this.#amt(deadline.partitions, partitionAt(this.#version)).values()
  }

  /** Window PoSts of the last period that can still be disputed. */
  disputableProofs(deadline: Deadline): number {
    if (this.#version < FIRST_V3_TREES) return 0
    return this.#amt(deadline.optimisticPoStSubmissionsSnapshot, windowedPoSt).count
  }

  /** A set of sectors over all partitions. */
  sectorsOf(pick: (partition: Partition) => BitField): BitField {
    return unionAll(finish(this.partitionSteps(pick)))
  }

  /** Something of every partition, a deadline at a time. @throws BlockMissing with what all deadlines lack */
  *partitionSteps<T>(pick: (partition: Partition) => T): Steps<T[]> {
    const out: T[] = []
    const missing: Cid[] = []
    for (const deadline of this.deadlines()) {
      try {
        for (const partition of this.partitions(deadline)) out.push(pick(partition))
      } catch (error) {
        if (!(error instanceof BlockMissing)) throw error
        missing.push(...error.cids)
      }
      yield
    }
    if (missing.length > 0) throw new BlockMissing(missing)
    return out
  }

  allocatedSectors(): BitField {
    return getCbor(this.#store, bitField, this.state.allocatedSectors)
  }

  /** A pre-commitment, in the form of version 9, which Lotus shows. */
  preCommit(number: SectorNumber): SectorPreCommitOnChainInfo | undefined {
    const codec = sectorPreCommitOnChainInfoAt(this.#version)
    const options = { pointerMaps: this.#version < FIRST_V3_TREES }
    const found = Hamt.load(this.#store, this.state.preCommittedSectors, codec, options).get(varintBytes(number))
    if (found === undefined) return undefined
    const { info, preCommitDeposit, preCommitEpoch } = found
    return { info: { ...info, unsealedCid: info.unsealedCid ?? null }, preCommitDeposit, preCommitEpoch }
  }

  /**
   * Where a sector is proven, a deadline at a time: thousands of partitions are read for one that is not there.
   * @throws ChainError `NOT_FOUND`
   */
  *findSector(number: SectorNumber): Steps<SectorLocation> {
    for (const [deadline, content] of this.deadlines().entries()) {
      for (const [partition, { sectors }] of this.partitions(content).entries()) {
        if (sectors.has(number)) return { deadline, partition }
      }
      yield
    }
    throw new ChainError('NOT_FOUND', `sector ${number} not due at any deadline`)
  }

  /**
   * When a sector expires, a deadline at a time.
   * @throws ChainError `NOT_FOUND` when there is none, or it was terminated
   * @see lotus chain/actors/builtin/miner GetSectorExpiration
   */
  *findExpiration(number: SectorNumber): Steps<SectorExpiration> {
    let early = 0
    for (const deadline of this.deadlines()) {
      for (const partition of this.partitions(deadline)) {
        if (!partition.sectors.has(number)) continue
        let onTime = 0
        if (!partition.terminated.has(number)) {
          this.#amt(partition.expirationsEpochs, expirationSet).forEach((epoch, set) => {
            if (onTime !== 0) return
            if (set.earlySectors.has(number)) early = epoch
            else if (set.onTimeSectors.has(number)) onTime = epoch
          })
        }
        if (early === 0 && onTime === 0) break
        return { onTime, early }
      }
      yield
    }
    throw new ChainError('NOT_FOUND', `failed to find sector ${number}`)
  }

  sector(number: SectorNumber): SectorOnChainInfo | undefined {
    const found = this.#amt(this.state.sectors, sectorOnChainInfoAt(this.#version)).get(number)
    return found === undefined ? undefined : this.#asLatest(found)
  }

  /**
   * Sectors by number.
   * @param numbers - undefined: all
   * @throws ChainError `NOT_FOUND`
   */
  sectors(numbers: BitField | undefined): SectorOnChainInfo[] {
    return [...present(this.eachSector(numbers))]
  }

  /** {@link sectors}, one after the other: a miner may have millions. */
  *eachSector(numbers: BitField | undefined): Found<SectorOnChainInfo> {
    const all = yield* reading(() => this.#amt(this.state.sectors, sectorOnChainInfoAt(this.#version)))
    if (numbers === undefined) {
      yield* eachFound(all.found(), ([, sector]) => this.#asLatest(sector))
      return
    }
    for (const number of numbers) {
      const found = yield* reading(() => all.get(number))
      if (found === undefined) throw new ChainError('NOT_FOUND', `failed to load sector ${number}: not found`)
      yield this.#asLatest(found)
    }
  }

  /** An older sector in the newest form, with zero for what it lacks, as Lotus shows it. */
  #asLatest(sector: SectorOnChainInfo): SectorOnChainInfo {
    if (this.#version >= FIRST_SPLIT_VESTING) return sector
    const base = this.#version >= FIRST_POWER_BASE_EPOCH
    return {
      ...sector,
      powerBaseEpoch: base ? sector.powerBaseEpoch : 0,
      replacedDayReward: base ? sector.replacedDayReward : null,
      sectorKeyCid: sector.sectorKeyCid ?? null,
      flags: base ? sector.flags : 0,
      dailyFee: 0n,
    }
  }

  /** Balance that is neither locked nor pledged nor owed; negative when there is more debt than that. */
  availableBalance(): TokenAmount {
    const { lockedFunds, preCommitDeposits, initialPledge, initialPledgeRequirement, feeDebt } = this.state
    const pledge = this.#version === 0 ? (initialPledgeRequirement ?? 0n) : initialPledge
    const unlocked = this.actor.balance - lockedFunds - preCommitDeposits - pledge
    if (unlocked < 0n)
      throw new ChainError('INVALID_STATE', 'failed to get available balance: negative unlocked balance')
    return unlocked - (feeDebt ?? 0n)
  }

  #vestingFunds(): readonly VestingFund[] {
    const { vestingFunds, vestingFundsCid } = this.state
    if (this.#version >= FIRST_SPLIT_VESTING) {
      return vestingFunds === null
        ? []
        : [vestingFunds.head, ...getCbor(this.#store, vestingFundsTail, vestingFunds.tail)]
    }
    return vestingFundsCid === undefined ? [] : getCbor(this.#store, vestingFundsBlock, vestingFundsCid).funds
  }

  /** Rewards that have vested before `epoch` and still count as locked. */
  vestedFunds(epoch: ChainEpoch): TokenAmount {
    let sum = 0n
    for (const fund of this.#vestingFunds()) {
      if (fund.epoch >= epoch) break
      sum += fund.amount
    }
    return sum
  }
}

/** @throws ChainError `ACTOR_NOT_FOUND`, `NOT_SUPPORTED` */
export function loadMiner(view: ChainView, tree: StateTree, address: Address): MinerActor {
  return minerOf(view, actorOf(view, tree, address))
}

/**
 * @param context - said before why not
 * @throws ChainError `NOT_SUPPORTED` for an actor of another kind
 */
export function minerOf(
  view: ChainView,
  actor: ActorState,
  context: string = 'failed to load miner actor state: ',
): MinerActor {
  const info = view.codes(actor.code)
  if (info?.kind !== 'storageminer') {
    throw new ChainError('NOT_SUPPORTED', `${context}${notOfKind(view, actor, 'miner')}`)
  }
  return new MinerActor(view.store.blocks, actor, info.actorsVersion)
}
