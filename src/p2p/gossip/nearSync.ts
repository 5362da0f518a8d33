/** Waits until the chain is about at the clock. */
import type { Clock } from '../../base/ports.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { firstBlock, type Tipset } from '../../types/tipset.ts'

const MS = 1000

/**
 * Calls `run` once, at once or with the head change that brings the chain so near.
 * @param epochs - block delays between the head and the clock
 * @returns what gives up waiting
 * @see lotus node/modules/services.go waitForSync
 */
export function whenNearSync({ store, network }: ChainView, clock: Clock, epochs: number, run: () => void): () => void {
  const isNear = (tipset: Tipset): boolean =>
    clock.nowMs() - firstBlock(tipset).timestamp * MS < epochs * network.blockDelaySecs * MS
  if (isNear(store.head())) {
    run()
    return () => undefined
  }
  const unfollow = store.onHeadChange((_reverted, applied) => {
    if (!applied.some(isNear)) return
    unfollow()
    run()
  })
  return unfollow
}
