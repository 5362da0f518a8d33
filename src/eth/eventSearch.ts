/**
 * Events of a range of tipsets.
 * @see lotus chain/events/filter/event.go; node/impl/full/actor_events.go
 */

import type { Steps } from '../base/steps.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'

/**
 * Executed tipsets of a head's chain between two heights, lowest first. The head itself is not executed yet.
 */
export function* executedTipsetsBetween(
  store: ChainStore,
  head: Tipset,
  { from, to }: { readonly from: ChainEpoch; readonly to: ChainEpoch },
): Steps<Tipset[]> {
  const top = Math.min(to, head.height - 1)
  if (top < 0 || from > top) return []
  const out: Tipset[] = []
  const highest = yield* store.findByHeight(top, head, 'previous')
  for (let tipset = highest; tipset.height >= from; tipset = store.parent(tipset)) {
    out.push(tipset)
    if (tipset.height === 0) break
    yield
  }
  return out.reverse()
}
