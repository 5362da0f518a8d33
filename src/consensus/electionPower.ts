/** Power of a miner and of the network in a state, as elections take it. @see lotus chain/stmgr/actors.go GetPowerRaw */
import type { ChainView } from '../chain/chainView.ts'
import { minerPower } from '../chain/queries/minerPower.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import type { ElectionPower } from './election.ts'

/** Quality-adjusted power, bytes; undefined for a miner without a claim. @throws ChainError `ACTOR_NOT_FOUND` */
export function electionPower(view: ChainView, tree: StateTree, miner: Address): ElectionPower | undefined {
  const power = minerPower(view, tree, miner)
  if (!power.hasClaim) return undefined
  return { miner: power.minerPower.qualityAdjPower, network: power.totalPower.qualityAdjPower }
}
