/**
 * Who may produce a block, won elections aside.
 * @see lotus chain/stmgr/actors.go MinerEligibleToMine
 */
import type { ChainView } from '../chain/chainView.ts'
import { loadMiner } from '../chain/queries/minerActor.ts'
import { minerPower } from '../chain/queries/minerPower.ts'
import type { Address } from '../types/address.ts'
import type { Tipset } from '../types/tipset.ts'

/** Only these rules looked at the lookback alone. */
const LOOKBACK_ALONE_UP_TO_VERSION = 3

/**
 * Enough power in the state that the lookback tipset builds on; in the state that the parents build on some power, no
 * debt, and no consensus fault that is still being punished.
 * @param base - the parent tipset
 */
export function isEligible(view: ChainView, base: Tipset, lookback: Tipset, miner: Address): boolean {
  const { hasMinPower } = minerPower(view, view.stateBefore(lookback), miner)
  if (!hasMinPower || view.networkVersion(base.height) <= LOOKBACK_ALONE_UP_TO_VERSION) return hasMinPower
  const tree = view.stateBefore(base)
  if (minerPower(view, tree, miner).minerPower.qualityAdjPower <= 0n) return false
  const actor = loadMiner(view, tree, miner)
  // The first tipset under the new rules still stands on a state of version 0 of the actors, which knows no debt.
  if ((actor.state.feeDebt ?? 0n) !== 0n) return false
  return base.height > actor.info().consensusFaultElapsed
}
