/** What a tipset left, as the chain itself says. */

import type { ChainStore } from '../chain/chainStore.ts'
import type { TipsetState } from '../chain/vm.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { equalTipsetKeys, firstBlock, type Tipset } from '../types/tipset.ts'

/** Read off the next tipset of the head's chain; undefined where there is none or its blocks are not at hand. */
export function recordedState(store: ChainStore, tipset: Tipset): TipsetState | undefined {
  const own = firstBlock(tipset)
  if (tipset.height === 0) return { stateRoot: own.parentStateRoot, receiptsRoot: own.parentMessageReceipts }
  const head = store.head()
  if (tipset.height >= head.height) return undefined
  const next = store.tipsetByHeight(tipset.height + 1, head, 'next')
  const { parents, parentStateRoot, parentMessageReceipts } = firstBlock(next)
  if (!equalTipsetKeys(parents, tipset.key)) return undefined
  if (!hasBlock(store.blocks, parentStateRoot) || !hasBlock(store.blocks, parentMessageReceipts)) return undefined
  return { stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts }
}
