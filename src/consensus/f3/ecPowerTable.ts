/**
 * The power table that a tipset leads to: everybody who may produce blocks on the state that it builds on.
 * @see lotus chain/lf3/ec.go getPowerTableLotusTSK; chain/actors/builtin/power CollectEligibleClaims
 */
import { accountKey } from '../../chain/actorLookup.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { loadMiner } from '../../chain/queries/minerActor.ts'
import { eligibleClaims } from '../../chain/queries/minerPower.ts'
import { addressToId, PROTOCOL_BLS } from '../../types/address.ts'
import type { Tipset } from '../../types/tipset.ts'
import { F3Error } from './errors.ts'
import { type PowerEntry, type PowerTable, sortedPowerTable } from './powerTable.ts'

/** @throws F3Error `POWER_TABLE_WRONG` for a worker without a BLS key; BlockMissing */
export function ecPowerTable(view: ChainView, tipset: Tipset): PowerTable {
  const tree = view.stateBefore(tipset)
  const entries: PowerEntry[] = []
  for (const { miner, power } of eligibleClaims(view, tree)) {
    if (power.qualityAdjPower <= 0n) continue
    const actor = loadMiner(view, tree, miner)
    if (actor.state.feeDebt !== 0n) continue
    const info = actor.info()
    if (tipset.height <= info.consensusFaultElapsed) continue
    const worker = accountKey(view, tree, info.worker)
    if (worker.protocol !== PROTOCOL_BLS) {
      throw new F3Error('POWER_TABLE_WRONG', `wrong type of worker address: ${view.addressText(miner)}`)
    }
    entries.push({ id: Number(addressToId(miner)), power: power.qualityAdjPower, publicKey: worker.payload })
  }
  return sortedPowerTable(entries)
}
