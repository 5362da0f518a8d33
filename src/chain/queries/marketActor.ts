/**
 * Deals and balances of the storage market.
 * @see lotus chain/actors/builtin/market; node/impl/full/state.go StateMarketDeals, StateMarketParticipants
 */
import type { Cid } from '../../codec/cid.ts'
import { Amt } from '../../ipld/amt.ts'
import { type Blockstore, getCbor } from '../../ipld/blockstore.ts'
import { Hamt } from '../../ipld/hamt.ts'
import {
  type DealProposal,
  type DealState,
  dealProposalAt,
  dealStateAt,
  type MarketState,
  marketStateAt,
} from '../../state/market.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { type Address, addressFromBytes } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'

const MARKET_ACTOR = 5n
const FIRST_V3_TREES = 3
const BALANCE_BIT_WIDTH = 6
const OLD_BALANCE_BIT_WIDTH = 5
/** From this version on a deal's state names its sector. */
const FIRST_SECTOR_NUMBER = 13

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

/** A deal that is not in a sector. */
const NO_STATE: DealState = { sectorNumber: 0, sectorStartEpoch: -1, lastUpdatedEpoch: -1, slashEpoch: -1 }

/** The market actor's state at one version of the actors. */
export class MarketActor {
  readonly state: MarketState
  readonly #store: Blockstore
  readonly #version: number

  /** @throws ChainError `ACTOR_NOT_FOUND`, `NOT_SUPPORTED` */
  constructor(view: ChainView, tree: StateTree) {
    const actor = tree.getActor(MARKET_ACTOR)
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

  /** Calls back for each deal in order of its id. */
  forEachDeal(visit: (id: number, deal: MarketDeal) => void): void {
    const { proposals, states } = this.#deals()
    proposals.forEach((id, proposal) => {
      visit(id, this.#withState(proposal, states.get(id)))
    })
  }

  deal(id: number): MarketDeal | undefined {
    const { proposals, states } = this.#deals()
    const proposal = proposals.get(id)
    return proposal === undefined ? undefined : this.#withState(proposal, states.get(id))
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
  participants(): Map<Address, MarketBalance> {
    const out = new Map<Address, MarketBalance>()
    const locked = this.#table(this.state.lockedTable)
    this.#table(this.state.escrowTable).forEach((key, escrow) => {
      out.set(addressFromBytes(key), { escrow, locked: locked.get(key) ?? 0n })
    })
    return out
  }
}
