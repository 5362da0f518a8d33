/** Sectors of a miner and the deals in them: each follows from the miner and the number. */

import { newSector } from '../../../src/actors/miner/newSector.ts'
import { MinerActor } from '../../../src/chain/queries/minerActor.ts'
import {
  type Cid,
  CODEC_FIL_COMMITMENT_UNSEALED,
  createCid,
  HASH_SHA2_256_TRUNC254_PADDED,
} from '../../../src/codec/cid.ts'
import type { SectorOnChainInfo } from '../../../src/state/sector.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import { EPOCHS_PER_DAY } from '../../../src/types/protocol.ts'
import type { ChainEpoch, TokenAmount } from '../../../src/types/scalars.ts'
import { fillRandom, PURPOSE, random32 } from './random.ts'
import { FIRST_ID, type StateSize } from './size.ts'

/** RegisteredSealProof StackedDRG32GiBV1P1, RegisteredPoStProof StackedDRGWindow32GiBV1P1. */
export const SEAL_PROOF = 8
export const WINDOW_POST_PROOF = 13
/** Bytes. */
export const SECTOR_SIZE: bigint = 1n << 35n
/** Sectors that one window PoSt proves. */
export const PARTITION_SECTORS = 2349
const DIGEST_BYTES = 32
/** That of the codecs that states are written with. */
const ACTORS_VERSION = 18

const MIN_LIFETIME_DAYS = 200
const LIFETIME_SPREAD_DAYS = 320
/** Sectors that were sealed together and expire together. */
const BATCH = 256
/** Verified data count tenfold. @see builtin-actors v18 actors/miner/src/policy.rs VERIFIED_DEAL_WEIGHT_MULTIPLIER */
const VERIFIED_MULTIPLIER = 10n
/** One sector in so many is full of verified data, another of a deal without. */
const DATA_EVERY = 5
const VERIFIED_AT = 0
const DEAL_AT = 1

/** AttoFIL a sector has pledged, and pays a day for its power. */
const PLEDGE = 120_000_000_000_000_000n
const DAILY_FEE = 500_000_000_000n

/** The first miner's part of all sectors, and how many are enough for it. */
const LARGEST_SHARE = 0.2
const LARGEST_SECTORS = 100_000
/** How quickly miners get smaller. */
const DECLINE = 0.65

export function isVerified(sector: number): boolean {
  return sector % DATA_EVERY === VERIFIED_AT
}

export function hasDeal(sector: number): boolean {
  return sector % DATA_EVERY === DEAL_AT
}

/** Sectors with a deal among the first `count`. */
export function dealCount(count: number): number {
  return Math.floor((count + DATA_EVERY - 1 - DEAL_AT) / DATA_EVERY)
}

/** Verified sectors among the first `count`. */
export function verifiedCount(count: number): number {
  return Math.floor((count + DATA_EVERY - 1 - VERIFIED_AT) / DATA_EVERY)
}

/** How many sectors each miner has: one large one, and a long tail. */
export function sectorCounts(size: StateSize): number[] {
  const miners = size.counts.miner
  const first = Math.min(LARGEST_SECTORS, Math.floor(size.sectors * LARGEST_SHARE))
  const weights = Array.from({ length: miners - 1 }, (_, i) => (i + 2) ** -DECLINE)
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  return [first, ...weights.map((weight) => Math.max(1, Math.floor(((size.sectors - first) * weight) / all)))]
}

/** Last epoch of a sector, before it is rounded up to its deadline. @param miner - index of the miner */
export function expirationOf(size: StateSize, miner: number, sector: number): ChainEpoch {
  const batch = Math.floor(sector / BATCH)
  const days = MIN_LIFETIME_DAYS + (random32(size.seed, PURPOSE.expiration, miner, batch) % LIFETIME_SPREAD_DAYS)
  return days * EPOCHS_PER_DAY
}

/** Number that no other sector of the state has. */
function sectorKey(miner: number, sector: number): number {
  return (miner * 131_072 + sector) >>> 0
}

/** Quality adjusted power of a sector, bytes. */
export function qaPowerOf(sector: number): bigint {
  return isVerified(sector) ? SECTOR_SIZE * VERIFIED_MULTIPLIER : SECTOR_SIZE
}

export function pledgeOf(sector: number): TokenAmount {
  return isVerified(sector) ? PLEDGE * VERIFIED_MULTIPLIER : PLEDGE
}

export function dailyFeeOf(sector: number): TokenAmount {
  return isVerified(sector) ? DAILY_FEE * VERIFIED_MULTIPLIER : DAILY_FEE
}

/** CommP of the data of a sector. */
export function pieceCid(size: StateSize, miner: number, sector: number): Cid {
  const digest = new Uint8Array(DIGEST_BYTES)
  fillRandom(digest, 0, size.seed, PURPOSE.piece, sectorKey(miner, sector))
  return createCid(CODEC_FIL_COMMITMENT_UNSEALED, HASH_SHA2_256_TRUNC254_PADDED, digest)
}

/** ID of a miner. @param miner - its index */
export function minerId(miner: number): number {
  return FIRST_ID + miner
}

/** A miner's state as it is in a tree. @param miner - its index */
export function minerIn(tree: StateTree, miner: number): MinerActor | undefined {
  const actor = tree.getActor(BigInt(minerId(miner)))
  return actor && new MinerActor(tree.store, actor, ACTORS_VERSION)
}

/** A sector as the miner's state has it. */
export function sectorInfo(size: StateSize, miner: number, sector: number): SectorOnChainInfo {
  const digest = new Uint8Array(DIGEST_BYTES)
  fillRandom(digest, 0, size.seed, PURPOSE.sealed, sectorKey(miner, sector))
  const expiration = expirationOf(size, miner, sector)
  const weight = SECTOR_SIZE * BigInt(expiration)
  return {
    ...newSector(sector, SEAL_PROOF, digest, expiration),
    dealWeight: hasDeal(sector) ? weight : 0n,
    verifiedDealWeight: isVerified(sector) ? weight : 0n,
    initialPledge: pledgeOf(sector),
    dailyFee: dailyFeeOf(sector),
  }
}
