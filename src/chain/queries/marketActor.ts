/**
 * Deals and balances of the storage market.
 * @see lotus chain/actors/builtin/market; node/impl/full/state.go StateMarketDeals, StateMarketParticipants
 */
import type { Cid } from '../../codec/cid.ts'
import { uint } from '../../codec/description.ts'
import { varintBytes } from '../../codec/varint.ts'
import { Amt } from '../../ipld/amt.ts'
import { type Blockstore, getCbor } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { eachFound, type Found, reading } from '../../ipld/found.ts'
import { Hamt } from '../../ipld/hamt.ts'
import {
  type DealProposal,
  type DealState,
  dealProposalAt,
  dealStateAt,
  type MarketState,
  marketStateAt,
} from '../../state/market.ts'
import { rawParams } from '../../state/params/rawParams.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { type Address, addressFromBytes } from '../../types/address.ts'
import { type ChainEpoch, type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { MARKET_ID } from '../../types/singletons.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'

const FIRST_V3_TREES = 3
const BALANCE_BIT_WIDTH = 6
const OLD_BALANCE_BIT_WIDTH = 5
/** From this version on a deal's state names its sector. */
const FIRST_SECTOR_NUMBER = 13
const FIRST_ALLOCATIONS = 9

/** A deal as it stands. */
export interface MarketDeal {
  readonly proposal: DealProposal
  readonly state: DealState
}

/** AttoFIL in escrow, and how much of it is locked. */
export interface MarketBalance {
  readonly escrow: TokenAmount
  readonly locked: TokenAmount
}

function refused(reason: string): ChainError {
  return new ChainError('INVALID_STATE', `verifying deals for activation: ${reason}`)
}

/** A deal that is not in a sector. */
const NO_STATE: DealState = { sectorNumber: 0, sectorStartEpoch: -1, lastUpdatedEpoch: -1, slashEpoch: -1 }

/** The market actor's state at one version of the actors. */
export class MarketActor {
  readonly state: MarketState
  readonly #store: Blockstore
  readonly #version: number

  /** @throws ChainError `ACTOR_NOT_FOUND`, `NOT_SUPPORTED` */
  constructor(view: ChainView, tree: StateTree) {
    const actor = tree.getActor(MARKET_ID)
    if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'failed to load market actor: actor not found')
    const version = view.codes(actor.code)?.actorsVersion
    if (version === undefined)
      throw new ChainError('NOT_SUPPORTED', `not supported: market actor with code ${actor.code}`)
    this.#store = view.store.blocks
    this.#version = version
    this.state = getCbor(this.#store, marketStateAt(version), actor.head)
  }

  #deals(): { proposals: Amt<DealProposal>; states: Amt<DealState> } {
    const options = { v0: this.#version < FIRST_V3_TREES }
    return {
      proposals: Amt.load(this.#store, this.state.proposals, dealProposalAt(this.#version), options),
      states: Amt.load(this.#store, this.state.states, dealStateAt(this.#version), options),
    }
  }

  #withState(proposal: DealProposal, state: DealState | undefined): MarketDeal {
    if (state === undefined) return { proposal, state: NO_STATE }
    return { proposal, state: this.#version < FIRST_SECTOR_NUMBER ? { ...state, sectorNumber: 0 } : state }
  }

  /** All deals in order of their ids. */
  *deals(): Found<readonly [number, MarketDeal]> {
    const { proposals, states } = yield* reading(() => this.#deals())
    // Both in one walk: to look each state up would keep all of their nodes.
    const rest = states.found()
    let state = rest.next()
    for (const deal of proposals.found()) {
      if (deal instanceof BlockMissing) {
        yield deal
        continue
      }
      const [id, proposal] = deal
      for (; state.done !== true; state = rest.next()) {
        if (state.value instanceof BlockMissing) yield state.value
        else if (state.value[0] >= id) break
      }
      const [found, of] = state.done === true || state.value instanceof BlockMissing ? [] : state.value
      yield [id, this.#withState(proposal, found === id ? of : undefined)]
    }
  }

  /** @throws ChainError `NOT_FOUND` */
  requiredDeal(id: number): MarketDeal {
    const { proposals, states } = this.#deals()
    const proposal = proposals.get(id)
    if (proposal !== undefined) return this.#withState(proposal, states.get(id))
    const text = `deal ${id} not found - deal may not have completed sealing before deal proposal start epoch, or deal may have been slashed`
    throw new ChainError('NOT_FOUND', text)
  }

  /**
   * Verified byte-epochs of deals in a sector from `epoch` to `expiration`.
   * @param miner - as the deals name it: an ID address
   * @throws ChainError `NOT_FOUND`, `INVALID_STATE` when a deal cannot be in such a sector
   * @see go-state-types builtin/v18/market/market_state.go ValidateDealsForActivation
   */
  verifiedWeight(miner: Address, deals: readonly number[], epoch: ChainEpoch, expiration: ChainEpoch): bigint {
    const { proposals } = this.#deals()
    const seen = new Set<number>()
    let weight = 0n
    for (const id of deals) {
      if (seen.has(id)) throw refused(`deal ID ${id} present multiple times`)
      seen.add(id)
      const proposal = proposals.get(id)
      if (proposal === undefined)
        throw new ChainError('NOT_FOUND', `verifying deals for activation: no such deal ${id}`)
      const { provider, startEpoch, endEpoch, pieceSize, verifiedDeal } = proposal
      const cannot = `cannot activate deal ${id}: proposal`
      if (!provider.equals(miner)) throw refused(`${cannot} has provider ${provider}, must be ${miner}`)
      if (epoch > startEpoch) throw refused(`${cannot} start epoch ${startEpoch} has already elapsed at ${epoch}`)
      if (endEpoch > expiration) {
        throw refused(`${cannot} expiration ${endEpoch} exceeds sector expiration ${expiration}`)
      }
      const duration = this.#version < FIRST_SECTOR_NUMBER ? endEpoch - startEpoch : expiration - epoch
      if (verifiedDeal) weight += BigInt(pieceSize) * BigInt(duration)
    }
    return weight
  }

  /** Whether a proposal waits for its sector. */
  isPending(proposal: Cid): boolean {
    const options = { pointerMaps: this.#version < FIRST_V3_TREES }
    return Hamt.load(this.#store, this.state.pendingProposals, rawParams, options).has(proposal.bytes)
  }

  /**
   * The allocation of a verified deal that waits for its sector; 0: none.
   * @throws ChainError `NOT_SUPPORTED` before version 9
   */
  pendingAllocation(deal: number): number {
    if (this.#version < FIRST_ALLOCATIONS) throw new ChainError('NOT_SUPPORTED', 'unsupported before actors v9')
    // No deal has so high a number; Lotus finds none.
    if (!Number.isSafeInteger(deal)) return 0
    return Hamt.load(this.#store, this.state.pendingDealAllocationIds, uint).get(varintBytes(deal)) ?? 0
  }

  #table(root: Cid): Hamt<TokenAmount> {
    const old = this.#version < FIRST_V3_TREES
    const bitWidth = old ? OLD_BALANCE_BIT_WIDTH : BALANCE_BIT_WIDTH
    return Hamt.load(this.#store, root, tokenAmount, { bitWidth, pointerMaps: old })
  }

  /** @param address - ID address */
  balance(address: Address): MarketBalance {
    return {
      escrow: this.#table(this.state.escrowTable).get(address.bytes) ?? 0n,
      locked: this.#table(this.state.lockedTable).get(address.bytes) ?? 0n,
    }
  }

  /** Everyone with something in escrow. */
  *participants(): Found<readonly [Address, MarketBalance]> {
    const locked = yield* reading(() => this.#table(this.state.lockedTable))
    const escrow = yield* reading(() => this.#table(this.state.escrowTable))
    yield* eachFound(escrow.found(), ([key, amount]): readonly [Address, MarketBalance] => [
      addressFromBytes(key),
      { escrow: amount, locked: locked.get(key) ?? 0n },
    ])
  }
}
