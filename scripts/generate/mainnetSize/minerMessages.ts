/**
 * Parameters of messages that miners send, made from what their states allow: a sector is proven when its time has come, declared
 * faulty and recovered well before its deadline, ended or updated outside of the deadlines that are open.
 * @see builtin-actors v18 actors/miner/src/lib.rs, policy.rs
 */
import { SECTORS_BITS } from '../../../src/actors/miner/newMiner.ts'
import { activeSectors, type MinerActor, type SectorLocation } from '../../../src/chain/queries/minerActor.ts'
import { deadlineInfo, nextNotElapsed } from '../../../src/chain/queries/provingDeadline.ts'
import { encode } from '../../../src/codec/description.ts'
import { Amt } from '../../../src/ipld/amt.ts'
import { type BitField, bitFieldOf } from '../../../src/ipld/bitfield.ts'
import { DEADLINES_PER_PERIOD } from '../../../src/state/deadline.ts'
import type { MinerState } from '../../../src/state/miner.ts'
import { changePeerIDParams, withdrawBalanceParams } from '../../../src/state/params/miner/control.ts'
import { extendSectorExpiration2Params, terminateSectorsParams } from '../../../src/state/params/miner/lifetime.ts'
import { declareFaultsParams, declareFaultsRecoveredParams } from '../../../src/state/params/miner/proving.ts'
import { sectorOnChainInfo } from '../../../src/state/sector.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import { EPOCHS_PER_DAY } from '../../../src/types/protocol.ts'
import { ATTO_PER_FIL } from '../../../src/types/scalars.ts'
import { partitionSize } from './miner.ts'
import { fillRandom, PURPOSE } from './random.ts'
import { type Place, SectorMessages } from './sectorMessages.ts'
import { hasDeal, isVerified, minerIn, sectorCounts } from './sectors.ts'
import type { StateSize } from './size.ts'

/** The methods, by the name of what they are for. */
export const MINER_METHODS = {
  withdraw: 16n,
  changePeer: 4n,
  preCommit: 28n,
  proveCommit: 34n,
  commitAtOnce: 36n,
  update: 35n,
  extend: 32n,
  declareFaults: 10n,
  recover: 11n,
  terminate: 9n,
} as const
export type MinerSort = keyof typeof MINER_METHODS

const VALUE = ATTO_PER_FIL / 1000n
const DIGEST_BYTES = 32
/** Epochs without a block that may come before the message is executed. */
const NULL_ROUNDS = 20
/** Deadlines from the one that is open on in which nothing may be ended, and the one before: it may be closed late. */
const CLOSE_DEADLINES = 3

function declared({ sector, ...place }: Place): SectorLocation & { readonly sectors: BitField } {
  return { ...place, sectors: bitFieldOf([sector]) }
}

/** What miners may send on one tipset. */
export class MinerMessages {
  readonly #size: StateSize
  readonly #tree: StateTree
  readonly #height: number
  readonly #random: (below: number) => number
  readonly #sectors: SectorMessages

  constructor(size: StateSize, tree: StateTree, height: number, random: (below: number) => number) {
    this.#size = size
    this.#tree = tree
    this.#height = height
    this.#random = random
    this.#sectors = new SectorMessages(size, tree, height)
  }

  /** @param miner - its index. @returns undefined where its state allows none */
  params(sort: MinerSort, miner: number): Uint8Array | undefined {
    switch (sort) {
      case 'withdraw':
        return encode(withdrawBalanceParams, { amountRequested: VALUE })
      case 'changePeer': {
        const newId = new Uint8Array(DIGEST_BYTES)
        fillRandom(newId, 0, this.#size.seed, PURPOSE.messages, this.#height)
        return encode(changePeerIDParams, { newId })
      }
      case 'preCommit':
        return this.#sectors.preCommit(miner)
      default:
        return this.#ofState(sort, miner)
    }
  }

  #ofState(sort: Exclude<MinerSort, 'withdraw' | 'changePeer' | 'preCommit'>, miner: number): Uint8Array | undefined {
    const actor = minerIn(this.#tree, miner)
    if (actor === undefined) return undefined
    const { state } = actor
    if (sort === 'proveCommit') return this.#sectors.proveCommit(miner, state)
    if (sort === 'commitAtOnce') return this.#sectors.commitAtOnce(miner, state)
    if (sort === 'recover') {
      const place = this.#faulty(actor)
      return place && encode(declareFaultsRecoveredParams, { recoveries: [declared(place)] })
    }
    const place = this.#healthy(actor, miner)
    if (place === undefined) return undefined
    if (sort === 'extend') return this.#extension(state, place)
    if (sort === 'terminate' || sort === 'update') {
      const ahead = (place.deadline - state.currentDeadline + DEADLINES_PER_PERIOD) % DEADLINES_PER_PERIOD
      if (ahead < CLOSE_DEADLINES || ahead === DEADLINES_PER_PERIOD - 1) return undefined
      if (sort === 'update') return this.#sectors.update(miner, state, place)
      return encode(terminateSectorsParams, { terminations: [declared(place)] })
    }
    return this.#isFar(state, place.deadline) ? encode(declareFaultsParams, { faults: [declared(place)] }) : undefined
  }

  /** Whether faults and recoveries may be declared for a deadline: its window is neither open nor near. */
  #isFar({ provingPeriodStart }: MinerState, at: number): boolean {
    const { faultCutoff } = nextNotElapsed(deadlineInfo(provingPeriodStart, at, this.#height + 1))
    return faultCutoff - this.#height > NULL_ROUNDS
  }

  /** Any sector of those from the start that holds no data and is proven. */
  #healthy(actor: MinerActor, miner: number): Place | undefined {
    const count = sectorCounts(this.#size)[miner] as number
    const sector = this.#random(count)
    if (isVerified(sector) || hasDeal(sector)) return undefined
    const at = Math.floor(sector / partitionSize(count))
    const place = {
      deadline: at % DEADLINES_PER_PERIOD,
      partition: Math.floor(at / DEADLINES_PER_PERIOD),
      sector,
    }
    const partition = actor.partitions(actor.deadline(place.deadline))[place.partition]
    return partition !== undefined && activeSectors(partition).has(sector) ? place : undefined
  }

  /** A faulty sector that nobody has said will be proven again. */
  #faulty(actor: MinerActor): Place | undefined {
    const from = this.#random(DEADLINES_PER_PERIOD)
    for (let i = 0; i < DEADLINES_PER_PERIOD; i++) {
      const at = (from + i) % DEADLINES_PER_PERIOD
      const window = actor.deadline(at)
      if (window.faultyPower.raw === 0n || !this.#isFar(actor.state, at)) continue
      for (const [index, { faults, recoveries }] of actor.partitions(window).entries()) {
        const left = faults.subtract(recoveries)
        if (!left.isEmpty) return { deadline: at, partition: index, sector: Number(left.first) }
      }
    }
    return undefined
  }

  /** A sector lives on for a day more. */
  #extension({ sectors }: MinerState, place: Place): Uint8Array | undefined {
    const { store } = this.#tree
    const found = Amt.load(store, sectors, sectorOnChainInfo, { bitWidth: SECTORS_BITS }).get(place.sector)
    if (found === undefined) return undefined
    const newExpiration = found.expiration + EPOCHS_PER_DAY
    return encode(extendSectorExpiration2Params, {
      extensions: [{ ...declared(place), sectorsWithClaims: [], newExpiration }],
    })
  }
}
