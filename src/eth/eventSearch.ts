/**
 * Events of a range of tipsets.
 * @see lotus chain/events/filter/event.go; node/impl/full/actor_events.go
 */

import type { ChainStore } from '../chain/chainStore.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'

/**
 * Executed tipsets between two heights, lowest first. The head itself is not executed yet.
 */
export function executedTipsetsBetween(store: ChainStore, from: ChainEpoch, to: ChainEpoch): Tipset[] {
  const head = store.head()
  const top = Math.min(to, head.height - 1)
  if (top < 0 || from > top) return []
  const out: Tipset[] = []
  for (let tipset = store.tipsetByHeight(top, head, 'previous'); tipset.height >= from; tipset = store.parent(tipset)) {
    out.push(tipset)
    if (tipset.height === 0) break
  }
  return out.reverse()
}
