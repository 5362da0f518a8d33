/**
 * The verified registry with a claim for each verified sector and some allocations, and the token of data cap.
 * @see builtin-actors v18 actors/verifreg/src/state.rs, actors/datacap/src/state.rs, testing.rs of both
 */

import { unsignedKey } from '../../../src/actors/mapKeys.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { cid, encode } from '../../../src/codec/description.ts'
import { type Blockstore, putCbor } from '../../../src/ipld/blockstore.ts'
import { datacapState } from '../../../src/state/datacap.ts'
import { allocation, verifregClaim, verifregState } from '../../../src/state/verifreg.ts'
import { addressToId, idAddress } from '../../../src/types/address.ts'
import { EPOCHS_PER_DAY } from '../../../src/types/protocol.ts'
import { ATTO_PER_FIL, type TokenAmount, tokenAmount } from '../../../src/types/scalars.ts'
import { VERIFREG_ID } from '../../../src/types/singletons.ts'
import { someAccount } from './accounts.ts'
import { sortedHamt } from './bulkHamt.ts'
import { isVerified, minerId, pieceCid, SECTOR_SIZE, sectorCounts, verifiedCount } from './sectors.ts'
import type { StateSize } from './size.ts'

const TOKEN_BITS = 3
const MIN_TERM = 180 * EPOCHS_PER_DAY
const MAX_TERM = 5 * 365 * EPOCHS_PER_DAY
const ALLOCATION_EXPIRATION = 60 * EPOCHS_PER_DAY
/** Clients with data cap and allocations, at full scale. */
const CLIENTS = 500
const ALLOCATIONS_PER_CLIENT = 8
/** Data cap that a client has left, bytes. */
const CAP: bigint = SECTOR_SIZE * 1000n

type Entry = readonly [key: Uint8Array, raw: Uint8Array]

/** Writes the claims of all miners. @returns the map by provider, and the next free id */
function writeClaims(store: Blockstore, size: StateSize): { readonly root: Cid; readonly nextId: number } {
  let nextId = 1
  const providers = sectorCounts(size).flatMap((sectors, miner): Entry[] => {
    if (verifiedCount(sectors) === 0) return []
    const claims: Entry[] = []
    for (let sector = 0; sector < sectors; sector++) {
      if (!isVerified(sector)) continue
      const id = nextId++
      const value = {
        provider: BigInt(minerId(miner)),
        client: addressToId(someAccount(size, id % CLIENTS)),
        data: pieceCid(size, miner, sector),
        size: Number(SECTOR_SIZE),
        termMin: MIN_TERM,
        termMax: MAX_TERM,
        termStart: 0,
        sector,
      }
      claims.push([unsignedKey(id), encode(verifregClaim, value)])
    }
    return [[unsignedKey(minerId(miner)), encode(cid, sortedHamt(store, claims))]]
  })
  return { root: sortedHamt(store, providers), nextId }
}

/** What both actors' states are. */
export interface MadeRegistry {
  readonly registry: Cid
  readonly datacap: Cid
  readonly claims: number
}

/** @param rootKey - f0 address of the registry's root, `verifier` of the one that gives data cap */
export function writeRegistry(
  store: Blockstore,
  size: StateSize,
  { rootKey, verifier }: { readonly rootKey: bigint; readonly verifier: bigint },
): MadeRegistry {
  const claims = writeClaims(store, size)
  let nextId = claims.nextId
  const clients = Math.max(1, Math.round(CLIENTS * size.scale))
  const balances: Entry[] = []
  let supply: TokenAmount = 0n
  const give = (id: bigint, bytes: bigint): void => {
    supply += bytes * ATTO_PER_FIL
    balances.push([unsignedKey(id), encode(tokenAmount, bytes * ATTO_PER_FIL)])
  }
  const byClient = Array.from({ length: clients }, (_, i): Entry => {
    const client = addressToId(someAccount(size, i))
    const miner = i % size.counts.miner
    const entries = Array.from({ length: ALLOCATIONS_PER_CLIENT }, (__, n): Entry => {
      const value = {
        client,
        provider: BigInt(minerId(miner)),
        data: pieceCid(size, miner, 120_000 + i * ALLOCATIONS_PER_CLIENT + n),
        size: Number(SECTOR_SIZE),
        termMin: MIN_TERM,
        termMax: MAX_TERM,
        expiration: ALLOCATION_EXPIRATION,
      }
      return [unsignedKey(nextId++), encode(allocation, value)]
    })
    give(client, CAP)
    return [unsignedKey(client), encode(cid, sortedHamt(store, entries))]
  })
  give(VERIFREG_ID, SECTOR_SIZE * BigInt(clients * ALLOCATIONS_PER_CLIENT))
  const none = sortedHamt(store, [])
  const registry = putCbor(store, verifregState, {
    rootKey: idAddress(rootKey),
    verifiers: sortedHamt(store, [[idAddress(verifier).bytes, encode(tokenAmount, CAP)]]),
    removeDataCapProposalIds: none,
    allocations: sortedHamt(store, byClient),
    nextAllocationId: nextId,
    claims: claims.root,
  })
  const token = {
    supply,
    balances: sortedHamt(store, balances, TOKEN_BITS),
    allowances: sortedHamt(store, [], TOKEN_BITS),
    hamtBitWidth: TOKEN_BITS,
  }
  const datacap = putCbor(store, datacapState, { governor: idAddress(VERIFREG_ID), token })
  return { registry, datacap, claims: claims.nextId - 1 }
}
