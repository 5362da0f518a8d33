/**
 * Parameters of messages that miners send, made from what their states allow: a sector is committed when its time has come, declared
 * faulty and recovered well before its deadline, ended outside of the deadlines that are open.
 * @see builtin-actors v18 actors/miner/src/lib.rs, policy.rs
 */
import { SECTORS_BITS } from '../../../src/actors/miner/newMiner.ts'
import { EMPTY_BYTES } from '../../../src/base/bytes.ts'
import { activeSectors, type MinerActor, type SectorLocation } from '../../../src/chain/queries/minerActor.ts'
import { deadlineInfo, nextNotElapsed } from '../../../src/chain/queries/provingDeadline.ts'
import { CODEC_FIL_COMMITMENT_SEALED, createCid, HASH_POSEIDON_BLS12_381_A1_FC1 } from '../../../src/codec/cid.ts'
import { encode } from '../../../src/codec/description.ts'
import { Amt } from '../../../src/ipld/amt.ts'
import { type BitField, bitFieldOf } from '../../../src/ipld/bitfield.ts'
import { Hamt } from '../../../src/ipld/hamt.ts'
import { DEADLINES_PER_PERIOD } from '../../../src/state/deadline.ts'
import type { MinerState } from '../../../src/state/miner.ts'
import { preCommitSectorBatchParams2, proveCommitSectors3Params } from '../../../src/state/params/miner/commit.ts'
import { changePeerIDParams, withdrawBalanceParams } from '../../../src/state/params/miner/control.ts'
import { extendSectorExpiration2Params, terminateSectorsParams } from '../../../src/state/params/miner/lifetime.ts'
import { declareFaultsParams, declareFaultsRecoveredParams } from '../../../src/state/params/miner/proving.ts'
import type { SectorNumber } from '../../../src/state/scalars.ts'
import { sectorOnChainInfo, sectorPreCommitOnChainInfo } from '../../../src/state/sector.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import { EPOCHS_PER_DAY } from '../../../src/types/protocol.ts'
import { ATTO_PER_FIL } from '../../../src/types/scalars.ts'
import { partitionSize } from './miner.ts'
import { fillRandom, PURPOSE } from './random.ts'
import { hasDeal, isVerified, minerIn, SEAL_PROOF, sectorCounts } from './sectors.ts'
import type { StateSize } from './size.ts'

/** The methods, by the name of what they are for. */
export const MINER_METHODS = {
  withdraw: 16n,
  changePeer: 4n,
  preCommit: 28n,
  proveCommit: 34n,
  extend: 32n,
  declareFaults: 10n,
  recover: 11n,
  terminate: 9n,
} as const
export type MinerSort = keyof typeof MINER_METHODS

const VALUE = ATTO_PER_FIL / 1000n
const DIGEST_BYTES = 32
/** Of a sector of 32 GiB. */
const SEAL_PROOF_BYTES = 1920
const SECTORS_A_BATCH = 2
/** Sector numbers that no miner has from the start. */
const FREE_SECTORS = 200_000
const LIFETIME = 400 * 2880
/** Epochs between the randomness of a seal and its commitment. */
const SEAL_LOOKBACK = 5
/** PRE_COMMIT_CHALLENGE_DELAY of mainnet. */
const CHALLENGE_DELAY = 150
/** Epochs without a block that may come before the message is executed. */
const NULL_ROUNDS = 20
/** Deadlines from the one that is open on in which nothing may be ended, and the one before: it may be closed late. */
const CLOSE_DEADLINES = 3

/** A sector where it is proven. */
interface Place extends SectorLocation {
  readonly sector: SectorNumber
}

function declared({ sector, ...place }: Place): SectorLocation & { readonly sectors: BitField } {
  return { ...place, sectors: bitFieldOf([sector]) }
}

/** What miners may send on one tipset. */
export class MinerMessages {
  readonly #size: StateSize
  readonly #tree: StateTree
  readonly #height: number
  readonly #random: (below: number) => number

  constructor(size: StateSize, tree: StateTree, height: number, random: (below: number) => number) {
    this.#size = size
    this.#tree = tree
    this.#height = height
    this.#random = random
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
        return this.#preCommit(miner)
      default:
        return this.#ofState(sort, miner)
    }
  }

  #ofState(sort: Exclude<MinerSort, 'withdraw' | 'changePeer' | 'preCommit'>, miner: number): Uint8Array | undefined {
    const actor = minerIn(this.#tree, miner)
    if (actor === undefined) return undefined
    const { state } = actor
    if (sort === 'proveCommit') return this.#proveCommit(state)
    if (sort === 'recover') {
      const place = this.#faulty(actor)
      return place && encode(declareFaultsRecoveredParams, { recoveries: [declared(place)] })
    }
    const place = this.#healthy(actor, miner)
    if (place === undefined) return undefined
    if (sort === 'extend') return this.#extension(state, place)
    if (sort === 'terminate') {
      const ahead = (place.deadline - state.currentDeadline + DEADLINES_PER_PERIOD) % DEADLINES_PER_PERIOD
      const isClose = ahead < CLOSE_DEADLINES || ahead === DEADLINES_PER_PERIOD - 1
      return isClose ? undefined : encode(terminateSectorsParams, { terminations: [declared(place)] })
    }
    return this.#isFar(state, place.deadline) ? encode(declareFaultsParams, { faults: [declared(place)] }) : undefined
  }

  #preCommit(miner: number): Uint8Array {
    const sectors = Array.from({ length: SECTORS_A_BATCH }, (_, i) => {
      const number = FREE_SECTORS + this.#height * SECTORS_A_BATCH + i
      const digest = new Uint8Array(DIGEST_BYTES)
      fillRandom(digest, 0, this.#size.seed ^ miner, PURPOSE.sealed, number)
      return {
        sealProof: SEAL_PROOF,
        sectorNumber: number,
        sealedCid: createCid(CODEC_FIL_COMMITMENT_SEALED, HASH_POSEIDON_BLS12_381_A1_FC1, digest),
        sealRandEpoch: Math.max(0, this.#height - SEAL_LOOKBACK),
        dealIds: [],
        expiration: this.#height + LIFETIME,
        unsealedCid: null,
      }
    })
    return encode(preCommitSectorBatchParams2, { sectors })
  }

  /** The sectors of the first commitment that may be proven. */
  #proveCommit({ preCommittedSectors }: MinerState): Uint8Array | undefined {
    const all = Hamt.load(this.#tree.store, preCommittedSectors, sectorPreCommitOnChainInfo)
    const due = [...all.entries()]
      .map(([, committed]) => committed)
      .filter(({ preCommitEpoch }) => preCommitEpoch + CHALLENGE_DELAY < this.#height)
    const first = Math.min(...due.map(({ preCommitEpoch }) => preCommitEpoch))
    const numbers = due.filter(({ preCommitEpoch }) => preCommitEpoch === first).map(({ info }) => info.sectorNumber)
    if (numbers.length === 0) return undefined
    return encode(proveCommitSectors3Params, {
      sectorActivations: numbers.map((sectorNumber) => ({ sectorNumber, pieces: [] })),
      sectorProofs: numbers.map(() => new Uint8Array(SEAL_PROOF_BYTES)),
      aggregateProof: EMPTY_BYTES,
      aggregateProofType: null,
      requireActivationSuccess: true,
      requireNotificationSuccess: true,
    })
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
