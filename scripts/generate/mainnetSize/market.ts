/**
 * The market: active deals in miners' sectors, and some that wait for theirs.
 * @see builtin-actors v18 actors/market/src/state.rs, testing.rs
 */

import { signedKey, unsignedKey } from '../../../src/actors/mapKeys.ts'
import { EMPTY_BYTES } from '../../../src/base/bytes.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { cid, encode, list } from '../../../src/codec/description.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { type Blockstore, putCbor } from '../../../src/ipld/blockstore.ts'
import { type DealProposal, type DealState, dealProposal, dealState, marketState } from '../../../src/state/market.ts'
import { dealId } from '../../../src/state/scalars.ts'
import { idAddress } from '../../../src/types/address.ts'
import { type ChainEpoch, type TokenAmount, tokenAmount } from '../../../src/types/scalars.ts'
import { someAccount } from './accounts.ts'
import { BulkAmt } from './bulkAmt.ts'
import { sortedHamt } from './bulkHamt.ts'
import { dealCount, expirationOf, hasDeal, minerId, pieceCid, SECTOR_SIZE, sectorCounts } from './sectors.ts'
import type { StateSize } from './size.ts'

const PROPOSALS_BITS = 5
const STATES_BITS = 6
export const BALANCE_TABLE_BITS = 6
/** CBOR null: the values of a set. */
const MEMBER = Uint8Array.of(0xf6)
/** AttoFIL a provider has at stake for each deal. */
const COLLATERAL: TokenAmount = 10_000_000_000_000_000n
/** For so many active deals one waits to be activated. */
const PENDING_EVERY = 100
/** Waiting deals start in the first two days, none at once. */
const FIRST_START = 30
const STARTS = 5760
export const DEAL_EPOCHS = 518_400
const NEVER = -1

/** The market's state, and what the actor has. */
export interface MadeMarket {
  readonly head: Cid
  readonly balance: TokenAmount
  /** All deals. */
  readonly deals: number
}

class MarketWriter {
  readonly #store: Blockstore
  readonly #size: StateSize
  readonly #proposals: BulkAmt<DealProposal>
  readonly #states: BulkAmt<DealState>
  readonly #sectors: number[]
  /** Deals of each miner with something at stake. */
  readonly #deals: number[]
  #nextId = 0

  constructor(store: Blockstore, size: StateSize) {
    this.#store = store
    this.#size = size
    this.#proposals = new BulkAmt(store, dealProposal, PROPOSALS_BITS)
    this.#states = new BulkAmt(store, dealState, STATES_BITS)
    this.#sectors = sectorCounts(size)
    this.#deals = this.#sectors.map(() => 0)
  }

  #propose(miner: number, sector: number, start: ChainEpoch, end: ChainEpoch): { id: number; proposal: DealProposal } {
    const id = this.#nextId++
    const proposal: DealProposal = {
      pieceCid: pieceCid(this.#size, miner, sector),
      pieceSize: Number(SECTOR_SIZE),
      verifiedDeal: false,
      client: someAccount(this.#size, id % 1000),
      provider: idAddress(BigInt(minerId(miner))),
      label: { isText: true, data: EMPTY_BYTES },
      startEpoch: start,
      endEpoch: end,
      storagePricePerEpoch: 0n,
      providerCollateral: COLLATERAL,
      clientCollateral: 0n,
    }
    this.#proposals.add(id, proposal)
    this.#deals[miner] = (this.#deals[miner] as number) + 1
    return { id, proposal }
  }

  /** Deals that are in sectors. @returns the map of a miner's sectors to their deals */
  #active(miner: number): Cid {
    const entries: [Uint8Array, Uint8Array][] = []
    for (let sector = 0; sector < (this.#sectors[miner] as number); sector++) {
      if (!hasDeal(sector)) continue
      const { id } = this.#propose(miner, sector, 0, expirationOf(this.#size, miner, sector))
      this.#states.add(id, { sectorNumber: sector, sectorStartEpoch: 0, lastUpdatedEpoch: 0, slashEpoch: NEVER })
      entries.push([unsignedKey(sector), encode(list(dealId), [id])])
    }
    return sortedHamt(this.#store, entries)
  }

  /** Deals that are published and in no sector yet: when they start, cron takes them away. */
  #waiting(count: number): { pending: Cid; byEpoch: Cid } {
    const members: [Uint8Array, Uint8Array][] = []
    const due = new Map<ChainEpoch, number[]>()
    for (let i = 0; i < count; i++) {
      const miner = i % this.#sectors.length
      const start = FIRST_START + Math.floor((i * STARTS) / count)
      const { id, proposal } = this.#propose(miner, (this.#sectors[miner] as number) + i, start, start + DEAL_EPOCHS)
      members.push([blockCid(encode(dealProposal, proposal)).bytes, MEMBER])
      due.set(start, [...(due.get(start) ?? []), id])
    }
    const epochs = [...due].map(([epoch, ids]): [Uint8Array, Uint8Array] => {
      const set = sortedHamt(
        this.#store,
        ids.map((id) => [unsignedKey(id), MEMBER] as const),
      )
      return [signedKey(epoch), encode(cid, set)]
    })
    return { pending: sortedHamt(this.#store, members), byEpoch: sortedHamt(this.#store, epochs) }
  }

  write(): MadeMarket {
    const store = this.#store
    const providers = this.#sectors.map((sectors, miner): [Uint8Array, Uint8Array] | undefined =>
      dealCount(sectors) === 0 ? undefined : [unsignedKey(minerId(miner)), encode(cid, this.#active(miner))],
    )
    const waiting = this.#waiting(Math.ceil(this.#nextId / PENDING_EVERY))
    const none = sortedHamt(store, [])
    const balances = sortedHamt(
      store,
      this.#deals.flatMap((deals, miner): [Uint8Array, Uint8Array][] =>
        deals === 0 ? [] : [[idAddress(BigInt(minerId(miner))).bytes, encode(tokenAmount, COLLATERAL * BigInt(deals))]],
      ),
      BALANCE_TABLE_BITS,
    )
    const locked = COLLATERAL * BigInt(this.#nextId)
    const head = putCbor(store, marketState, {
      proposals: this.#proposals.finish(),
      states: this.#states.finish(),
      pendingProposals: waiting.pending,
      escrowTable: balances,
      lockedTable: balances,
      nextId: this.#nextId,
      dealOpsByEpoch: waiting.byEpoch,
      lastCron: NEVER,
      totalClientLockedCollateral: 0n,
      totalProviderLockedCollateral: locked,
      totalClientStorageFee: 0n,
      pendingDealAllocationIds: none,
      providerSectors: sortedHamt(
        store,
        providers.filter((provider) => provider !== undefined),
      ),
    })
    return { head, balance: locked, deals: this.#nextId }
  }
}

/** Writes the market's state. */
export function writeMarket(store: Blockstore, size: StateSize): MadeMarket {
  return new MarketWriter(store, size).write()
}
