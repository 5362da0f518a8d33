/** What a tipset left, as the chain itself says. */

import { finish, type Steps, type Walk } from '../base/steps.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { equalTipsetKeys, firstBlock, type Tipset } from '../types/tipset.ts'
import type { ChainStore } from './chainStore.ts'
import type { TipsetState, VmHost } from './vm.ts'

/** Read off the next tipset of the head's chain; undefined where there is none or its blocks are not at hand. */
export function recordedState(store: ChainStore, tipset: Tipset): TipsetState | undefined {
  return finish(findRecorded(store, tipset))
}

/**
 * What a tipset left: recorded, or executed. Far below the head the next tipset is a long walk away.
 * @param call - of the one who waits for it
 */
export async function stateAfter(
  tipset: Tipset,
  store: ChainStore,
  vm: Pick<VmHost, 'tipsetState'>,
  { walk, signal }: { readonly walk: Walk; readonly signal: AbortSignal },
): Promise<TipsetState> {
  return (await walk(findRecorded(store, tipset))) ?? (await vm.tipsetState(tipset, signal))
}

function* findRecorded(store: ChainStore, tipset: Tipset): Steps<TipsetState | undefined> {
  const own = firstBlock(tipset)
  if (tipset.height === 0) return { stateRoot: own.parentStateRoot, receiptsRoot: own.parentMessageReceipts }
  const head = store.head()
  if (tipset.height >= head.height) return undefined
  const next = yield* store.findByHeight(tipset.height + 1, head, 'next')
  const { parents, parentStateRoot, parentMessageReceipts } = firstBlock(next)
  if (!equalTipsetKeys(parents, tipset.key)) return undefined
  if (!hasBlock(store.blocks, parentStateRoot) || !hasBlock(store.blocks, parentMessageReceipts)) return undefined
  return { stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts }
}
