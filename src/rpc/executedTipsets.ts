/**
 * Tells of each tipset once the head knows what it left: the parents of every tipset that is applied, and again when
 * that one is reverted.
 * @see lotus chain/events/filter/event.go EventFilterManager Apply, Revert
 */
import { errorMessage } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { Tipset } from '../types/tipset.ts'

/** One step of the chain. */
export interface ExecutedChange {
  /** The tipset that came, or that went. */
  readonly head: Tipset
  /** Its parents: the messages that it executed. */
  readonly executed: Tipset
  readonly isReverted: boolean
}

/**
 * Calls `visit` for each step in order, one after the other.
 * @returns what ends it
 */
export function onExecuted(
  store: ChainStore,
  log: Logger,
  visit: (change: ExecutedChange) => Promise<void> | void,
): () => void {
  let stopped = false
  let queue: Promise<void> = Promise.resolve()
  const tell = (head: Tipset, isReverted: boolean): void => {
    if (head.height === 0) return
    const change = { head, executed: store.parent(head), isReverted }
    queue = queue
      .then(() => (stopped ? undefined : visit(change)))
      .catch((error: unknown) => log.warn('events of a tipset left out', { message: errorMessage(error) }))
  }
  const stop = store.onHeadChange((reverted, applied) => {
    for (const tipset of reverted) tell(tipset, true)
    for (const tipset of applied) tell(tipset, false)
  })
  return () => {
    stopped = true
    stop()
  }
}
