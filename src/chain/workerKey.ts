/**
 * The key that a miner signs blocks with, read so far back that no fork changes it.
 * @see lotus chain/vm/fvm.go workerKeyAtLookback; chain/stmgr/actors.go GetLookbackTipSetForRound
 */
import { CodecError } from '../codec/errors.ts'
import { getCbor } from '../ipld/blockstore.ts'
import { electionLookback } from '../networks/electionLookback.ts'
import { minerInfoAt, minerStateAt } from '../state/miner.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { accountKey, tryActorOf } from './actorLookup.ts'
import type { ChainView } from './chainView.ts'
import { ChainError } from './errors.ts'

/** The state that a block of `height` on top of `tipset`'s chain looks back to. */
function lookbackState(view: ChainView, tipset: Tipset, height: ChainEpoch): StateTree | undefined {
  const { target } = electionLookback(view.network, height)
  if (target >= tipset.height) return tipset.height === 0 ? view.stateBefore(tipset) : undefined
  return view.stateTree(firstBlock(view.store.tipsetByHeight(target + 1, tipset, 'next')).parentStateRoot)
}

/** @returns undefined when there is no such miner there (anybody may name any actor), its info cannot be read, or its worker has no key */
export function workerKeyAt(view: ChainView, tipset: Tipset, miner: Address, height: ChainEpoch): Address | undefined {
  // Older blocks cannot be judged any more.
  if (height < tipset.height - view.network.protocol.chainFinality) return undefined
  const tree = lookbackState(view, tipset, height)
  const actor = tree === undefined ? undefined : tryActorOf(tree, miner)
  const code = actor === undefined ? undefined : view.codes(actor.code)
  if (actor === undefined || code?.kind !== 'storageminer') return undefined
  const { blocks } = view.store
  const state = getCbor(blocks, minerStateAt(code.actorsVersion), actor.head)
  try {
    // A miner's owner may put an address into it that Lotus does not read either.
    const { worker } = getCbor(blocks, minerInfoAt(code.actorsVersion), state.info)
    return accountKey(view, view.stateBefore(tipset), worker)
  } catch (error) {
    if (error instanceof ChainError || error instanceof CodecError) return undefined
    throw error
  }
}
