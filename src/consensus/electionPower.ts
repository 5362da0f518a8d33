/**
 * Power of a miner and of the network in a state.
 * @see lotus chain/stmgr/actors.go GetPowerRaw
 */
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { getCbor } from '../ipld/blockstore.ts'
import { Hamt } from '../ipld/hamt.ts'
import { anyPowerState, powerClaim } from '../state/power.ts'
import { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import type { ElectionPower } from './election.ts'
import { ConsensusError } from './errors.ts'

const POWER_ACTOR = 4n

/**
 * Quality-adjusted power, bytes; undefined for a miner without a claim.
 * @throws ConsensusError `NO_POWER` when the state has no power actor
 */
export function electionPower(store: Blockstore, stateRoot: Cid, miner: Address): ElectionPower | undefined {
  const actor = StateTree.load(store, stateRoot).getActor(POWER_ACTOR)
  if (actor === undefined) throw new ConsensusError('NO_POWER', 'Cannot hold election: no power actor')
  const state = getCbor(store, anyPowerState, actor.head)
  const found = Hamt.load(store, state.claims, powerClaim).get(miner.bytes)
  return found === undefined ? undefined : { miner: found.qualityAdjPower, network: state.totalQualityAdjPower }
}
