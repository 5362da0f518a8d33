/**
 * Parameters of messages that bring sectors into power: committed before their proof or, not interactively, with it; proven one by one or
 * together; every second with data from the start, others updated with data later. No piece has an allocation.
 * @see builtin-actors v18 actors/miner/src/lib.rs pre_commit_sector_batch2, prove_commit_sectors3, prove_commit_sectors_ni,
 *   prove_replica_updates3; policy.rs
 */
import { SECTORS_BITS } from '../../../src/actors/miner/newMiner.ts'
import { EMPTY_BYTES } from '../../../src/base/bytes.ts'
import type { SectorLocation } from '../../../src/chain/queries/minerActor.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import {
  type Cid,
  CODEC_FIL_COMMITMENT_SEALED,
  createCid,
  HASH_POSEIDON_BLS12_381_A1_FC1,
} from '../../../src/codec/cid.ts'
import { encode } from '../../../src/codec/description.ts'
import { computeUnsealedCid } from '../../../src/fvm/kernel/unsealedCid.ts'
import { Amt } from '../../../src/ipld/amt.ts'
import { Hamt } from '../../../src/ipld/hamt.ts'
import { DEADLINES_PER_PERIOD } from '../../../src/state/deadline.ts'
import type { MinerState } from '../../../src/state/miner.ts'
import {
  preCommitSectorBatchParams2,
  proveCommitSectors3Params,
  proveCommitSectorsNIParams,
} from '../../../src/state/params/miner/commit.ts'
import type { PieceActivationManifest } from '../../../src/state/params/miner/pieces.ts'
import { proveReplicaUpdates3Params } from '../../../src/state/params/miner/updates.ts'
import { sectorOnChainInfo, sectorPreCommitOnChainInfo } from '../../../src/state/sector.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import type { ChainEpoch } from '../../../src/types/scalars.ts'
import { fillRandom, PURPOSE } from './random.ts'
import { minerId, pieceCid, SEAL_PROOF } from './sectors.ts'
import type { StateSize } from './size.ts'

const DIGEST_BYTES = 32
/** Of a sector of 32 GiB. */
const SEAL_PROOF_BYTES = 1920
const UPDATE_PROOF_BYTES = 3072
/** Stands for one: where proofs are accepted, only its length is looked at. */
const AGGREGATE_BYTES = 14_000
/** RegisteredSealProof StackedDRG32GiBV1P2_Feat_NiPoRep, RegisteredUpdateProof StackedDRG32GiBV1, RegisteredAggregateProof SnarkPackV2. */
const NON_INTERACTIVE_PROOF = 18
const UPDATE_PROOF = 3
const AGGREGATE_PROOF = 1
/** Sectors that are committed together: so few, or of every second miner as many as may be proven together. */
const FEW_SECTORS = 2
const MIN_AGGREGATED = 4
/** Sector numbers that no miner has from the start, and those of sectors that are not committed before. */
const FREE_SECTORS = 200_000
const FREE_AT_ONCE = 400_000
const LIFETIME = 400 * 2880
/** Epochs between the randomness of a seal and its commitment. */
const SEAL_LOOKBACK = 5
/** PRE_COMMIT_CHALLENGE_DELAY of mainnet. */
const CHALLENGE_DELAY = 150
/** Bytes: half of a sector. */
const PIECE_BYTES = 2 ** 34

/** A sector where it is proven. */
export interface Place extends SectorLocation {
  readonly sector: number
}

/** The commitment to a sector with one piece, and zeros behind it. */
function unsealedOf(piece: Cid): Cid {
  const writer = new CborWriter()
  writer.array(1)
  writer.array(2)
  writer.uint(PIECE_BYTES)
  writer.cid(piece)
  return computeUnsealedCid(BigInt(SEAL_PROOF), writer.finish(), () => undefined)
}

/** What miners may send about their new sectors on one tipset. */
export class SectorMessages {
  readonly #size: StateSize
  readonly #tree: StateTree
  readonly #height: ChainEpoch

  constructor(size: StateSize, tree: StateTree, height: ChainEpoch) {
    this.#size = size
    this.#tree = tree
    this.#height = height
  }

  #sealed(miner: number, sector: number): Cid {
    const digest = new Uint8Array(DIGEST_BYTES)
    fillRandom(digest, 0, this.#size.seed ^ miner, PURPOSE.sealed, sector)
    return createCid(CODEC_FIL_COMMITMENT_SEALED, HASH_POSEIDON_BLS12_381_A1_FC1, digest)
  }

  #piece(miner: number, sector: number): PieceActivationManifest {
    return { cid: pieceCid(this.#size, miner, sector), size: PIECE_BYTES, verifiedAllocationKey: null, notify: [] }
  }

  /** The newest numbers that no sector has. */
  #numbers(first: number, count: number): number[] {
    return Array.from({ length: count }, (_, i) => first + this.#height * MIN_AGGREGATED + i)
  }

  /** @param miner - its index */
  preCommit(miner: number): Uint8Array {
    const sectors = this.#numbers(FREE_SECTORS, miner % 2 === 0 ? MIN_AGGREGATED : FEW_SECTORS).map((sectorNumber) => ({
      sealProof: SEAL_PROOF,
      sectorNumber,
      sealedCid: this.#sealed(miner, sectorNumber),
      sealRandEpoch: Math.max(0, this.#height - SEAL_LOOKBACK),
      dealIds: [],
      expiration: this.#height + LIFETIME,
      unsealedCid: sectorNumber % 2 === 0 ? unsealedOf(this.#piece(miner, sectorNumber).cid) : null,
    }))
    return encode(preCommitSectorBatchParams2, { sectors })
  }

  /** The sectors of the first commitment that may be proven; undefined: there is none. */
  proveCommit(miner: number, { preCommittedSectors }: MinerState): Uint8Array | undefined {
    const all = Hamt.load(this.#tree.store, preCommittedSectors, sectorPreCommitOnChainInfo)
    const due = [...all.entries()]
      .map(([, committed]) => committed)
      .filter(({ preCommitEpoch }) => preCommitEpoch + CHALLENGE_DELAY < this.#height)
    const first = Math.min(...due.map(({ preCommitEpoch }) => preCommitEpoch))
    const sectors = due.filter(({ preCommitEpoch }) => preCommitEpoch === first).map(({ info }) => info)
    if (sectors.length === 0) return undefined
    const areTogether = sectors.length >= MIN_AGGREGATED
    return encode(proveCommitSectors3Params, {
      sectorActivations: sectors.map(({ sectorNumber, unsealedCid }) => ({
        sectorNumber,
        pieces: unsealedCid === null ? [] : [this.#piece(miner, Number(sectorNumber))],
      })),
      sectorProofs: areTogether ? [] : sectors.map(() => new Uint8Array(SEAL_PROOF_BYTES)),
      aggregateProof: areTogether ? new Uint8Array(AGGREGATE_BYTES) : EMPTY_BYTES,
      aggregateProofType: areTogether ? AGGREGATE_PROOF : null,
      requireActivationSuccess: true,
      requireNotificationSuccess: true,
    })
  }

  /** Sectors that are committed with their proof, for a deadline that is half a day away. */
  commitAtOnce(miner: number, { currentDeadline }: MinerState): Uint8Array {
    const sectors = this.#numbers(FREE_AT_ONCE, FEW_SECTORS).map((sectorNumber) => ({
      sealingNumber: sectorNumber,
      sealerId: BigInt(minerId(miner)),
      sealedCid: this.#sealed(miner, sectorNumber),
      sectorNumber,
      sealRandEpoch: Math.max(0, this.#height - SEAL_LOOKBACK),
      expiration: this.#height + LIFETIME,
    }))
    return encode(proveCommitSectorsNIParams, {
      sectors,
      aggregateProof: new Uint8Array(AGGREGATE_BYTES),
      sealProofType: NON_INTERACTIVE_PROOF,
      aggregateProofType: AGGREGATE_PROOF,
      provingDeadline: (currentDeadline + DEADLINES_PER_PERIOD / 2) % DEADLINES_PER_PERIOD,
      requireActivationSuccess: true,
    })
  }

  /** @param place - of a healthy sector. @returns undefined: it has data already */
  update(miner: number, { sectors }: MinerState, { sector, deadline, partition }: Place): Uint8Array | undefined {
    const found = Amt.load(this.#tree.store, sectors, sectorOnChainInfo, { bitWidth: SECTORS_BITS }).get(sector)
    if (found === undefined || found.dealWeight !== 0n || found.verifiedDealWeight !== 0n) return undefined
    return encode(proveReplicaUpdates3Params, {
      sectorUpdates: [
        {
          ...{ sector, deadline, partition },
          newSealedCid: this.#sealed(miner, sector),
          pieces: [this.#piece(miner, sector)],
        },
      ],
      sectorProofs: [new Uint8Array(UPDATE_PROOF_BYTES)],
      aggregateProof: EMPTY_BYTES,
      updateProofsType: UPDATE_PROOF,
      aggregateProofType: null,
      requireActivationSuccess: true,
      requireNotificationSuccess: true,
    })
  }
}
