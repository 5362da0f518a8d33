/**
 * The state of synchronisation of a node that takes its head from nobody: an opened archive, a local chain. It is always
 * at its target. One worker is shown all the same: Lotus' clients wait for ever without any.
 */
import type { Clock } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import { SYNC_STAGE, type SyncState } from '../sync/syncState.ts'

/** What {@link followHead} gives. */
export interface HeadSync {
  state(): SyncState
  stop(): void
}

/** Follows the head of a chain. @param counts - whether messages are counted: they are at hand */
export function followHead(view: ChainView, clock: Clock, counts: boolean): HeadSync {
  const { store } = view
  let changedMs = clock.nowMs()
  let applied = 0
  const stop = store.onHeadChange((_reverted, tipsets) => {
    changedMs = clock.nowMs()
    if (counts) for (const tipset of tipsets) applied += view.tipsetMessages(tipset).length
  })
  return {
    state: () => {
      const head = store.head()
      const { height } = head
      const sync = { workerId: 0, base: head, target: head, stage: SYNC_STAGE.complete, height, message: '' }
      return { activeSyncs: [{ ...sync, startMs: changedMs, endMs: changedMs }], vmApplied: applied }
    },
    stop,
  }
}
