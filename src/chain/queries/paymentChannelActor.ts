import { Amt } from '../../ipld/amt.ts'
import { getCbor } from '../../ipld/blockstore.ts'
import { type LaneState, laneState, type PaychState, paychState } from '../../state/paych.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { ActorState } from '../../types/actor.ts'
import type { Address } from '../../types/address.ts'
import { actorOf, notOfKind } from '../actorLookup.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'

/** The first version whose lanes are in a tree, and the first whose tree has a bit width. */
const FIRST_LANE_TREES = 2
const FIRST_V3_TREES = 3
const LANES_BIT_WIDTH = 3

/** A payment channel's state. @see lotus chain/stmgr/actors.go GetPaychState; chain/actors/builtin/paych */
export class PaymentChannelActor {
  readonly actor: ActorState
  readonly state: PaychState
  readonly #lanes: Amt<LaneState>

  /** @throws ChainError `ACTOR_NOT_FOUND`, `NOT_SUPPORTED` */
  constructor(view: ChainView, tree: StateTree, address: Address) {
    this.actor = actorOf(view, tree, address)
    const info = view.codes(this.actor.code)
    if (info?.kind !== 'paymentchannel' || info.actorsVersion < FIRST_LANE_TREES) {
      throw new ChainError('NOT_SUPPORTED', notOfKind(view, this.actor, 'paych'))
    }
    const { blocks } = view.store
    this.state = getCbor(blocks, paychState, this.actor.head)
    const options = info.actorsVersion < FIRST_V3_TREES ? { v0: true } : { bitWidth: LANES_BIT_WIDTH }
    this.#lanes = Amt.load(blocks, this.state.laneStates, laneState, options)
  }

  /** What of each lane is on the chain. */
  lanes(): Map<number, LaneState> {
    const out = new Map<number, LaneState>()
    this.#lanes.forEach((lane, state) => {
      out.set(lane, state)
    })
    return out
  }
}
