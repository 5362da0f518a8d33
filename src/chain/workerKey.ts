/**
 * The key that a miner signs blocks with, read so far back that no fork changes it.
 * @see lotus chain/vm/fvm.go workerKeyAtLookback; chain/stmgr/actors.go GetLookbackTipSetForRound
 */
import { getCbor } from '../ipld/blockstore.ts'
import { electionLookback } from '../networks/electionLookback.ts'
import { minerInfoAt, minerStateAt } from '../state/miner.ts'
import type { StateTree } from '../state/stateTree.ts'
import { type Address, addressToId } from '../types/address.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { accountKey } from './actorLookup.ts'
import type { ChainView } from './chainView.ts'
import { ChainError } from './errors.ts'

/** The state that a block of `height` on top of `tipset`'s chain looks back to. */
function lookbackState(view: ChainView, tipset: Tipset, height: ChainEpoch): StateTree | undefined {
  const { target } = electionLookback(view.network, height)
  if (target >= tipset.height) return tipset.height === 0 ? view.stateBefore(tipset) : undefined
  return view.stateTree(firstBlock(view.store.tipsetByHeight(target + 1, tipset, 'next')).parentStateRoot)
}

/** @returns undefined when the miner or its worker cannot be found there */
export function workerKeyAt(view: ChainView, tipset: Tipset, miner: Address, height: ChainEpoch): Address | undefined {
  // Older blocks cannot be judged any more.
  if (height < tipset.height - view.network.protocol.chainFinality) return undefined
  const actor = lookbackState(view, tipset, height)?.getActor(addressToId(miner))
  const version = actor === undefined ? undefined : view.codes(actor.code)?.actorsVersion
  if (actor === undefined || version === undefined) return undefined
  const { blocks } = view.store
  const state = getCbor(blocks, minerStateAt(version), actor.head)
  const { worker } = getCbor(blocks, minerInfoAt(version), state.info)
  try {
    return accountKey(view, view.stateBefore(tipset), worker)
  } catch (error) {
    if (error instanceof ChainError) return undefined
    throw error
  }
}
