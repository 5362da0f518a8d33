/**
 * Check 6 and the powers that elections and eligibility read.
 * @see lotus chain/stmgr/actors.go GetPowerRaw; builtin-actors actors/power/src/state.rs miner_nominal_power_meets_consensus_minimum
 */
import type { ChainView } from '../../chain/chainView.ts'
import { getCbor } from '../../ipld/blockstore.ts'
import { Hamt } from '../../ipld/hamt.ts'
import { type PowerClaim, powerClaimAt, powerStateAt } from '../../state/power.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { Address } from '../../types/address.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

const POWER_ACTOR = 4n
/** Tries had another form before this actors version. */
const POINTER_MAPS_UNTIL = 3
/** While fewer miners than this have the network's minimum, any power above zero suffices. */
const MINERS_TO_ENFORCE_MINIMUM = 4

/** A miner's claim with the network's totals, in one state. */
export interface Power {
  readonly claim: PowerClaim | undefined
  /** Quality-adjusted, bytes. */
  readonly networkPower: bigint
  /** Whether the claim's raw power meets the consensus minimum. */
  readonly meetsMinimum: boolean
}

/** Reads the power actor of a state. */
export function readPower(view: ChainView, tree: StateTree, miner: Address): Power {
  const actor = tree.getActor(POWER_ACTOR)
  const version = actor === undefined ? undefined : view.codes(actor.code)?.actorsVersion
  if (actor === undefined || version === undefined) {
    throw new ValidationError('MINER_WITHOUT_CLAIM', 'failed to load power actor: actor not found')
  }
  const { blocks } = view.store
  const state = getCbor(blocks, powerStateAt(version), actor.head)
  const claim = Hamt.load(blocks, state.claims, powerClaimAt(version), {
    pointerMaps: version < POINTER_MAPS_UNTIL,
  }).get(miner.bytes)
  const raw = claim?.rawBytePower ?? 0n
  const meetsMinimum =
    state.minerAboveMinPowerCount < MINERS_TO_ENFORCE_MINIMUM
      ? raw > 0n
      : raw >= view.network.protocol.consensusMinerMinPowerBytes
  return { claim, networkPower: state.totalQualityAdjPower, meetsMinimum }
}

/** Check 6: the miner is known to the power actor. */
export function checkClaim({ header, view, baseState }: BlockContext): void {
  if (readPower(view, baseState, header.miner).claim === undefined) {
    throw new ValidationError('MINER_WITHOUT_CLAIM', 'failed to load claim for miner: minerHasMinPower failed')
  }
}
