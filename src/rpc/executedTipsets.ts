/**
 * Tells of each tipset once the head knows what it left: the parents of every tipset that is applied, and again when
 * that one is reverted.
 * @see lotus chain/events/filter/event.go EventFilterManager Apply, Revert
 */
import { MAX_SHARED_STEPS } from '../base/bounds.ts'
import { errorMessage } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import type { Steps } from '../base/steps.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { Tipset } from '../types/tipset.ts'
import { UNHURRIED, type Walking } from './ethReader.ts'

/** One step of the chain: the same object for all who hear of it. */
export interface ExecutedChange {
  /** The tipset that came, or that went. */
  readonly head: Tipset
  /** Its parents: the messages that it executed. */
  readonly executed: Tipset
  readonly isReverted: boolean
}

/** Hears of a step. @param ended - aborted when it wants to hear no more */
export type ExecutedVisit = (change: ExecutedChange, ended: AbortSignal) => Promise<void>

/** The steps of a chain, for all who want to hear of them. */
export class ExecutedFeed {
  readonly #store: Pick<ChainStore, 'parent' | 'onHeadChange'>
  readonly #log: Logger
  readonly #queues = new Set<(change: ExecutedChange) => void>()
  #stop: (() => void) | undefined

  constructor(store: Pick<ChainStore, 'parent' | 'onHeadChange'>, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /**
   * Calls `visit` for each step in order, one after the other; who takes long keeps nobody else waiting.
   * @returns what ends it
   */
  on(visit: ExecutedVisit): () => void {
    const ended = new AbortController()
    const { signal } = ended
    let queue: Promise<void> = Promise.resolve()
    const push = (change: ExecutedChange): void => {
      queue = queue
        .then(() => (signal.aborted ? undefined : visit(change, signal)))
        .catch((error: unknown) => {
          // Who has gone gives up in the middle.
          if (!signal.aborted) this.#log.warn('events of a tipset left out', { message: errorMessage(error) })
        })
    }
    const stop = this.steps(push)
    return () => {
      ended.abort()
      stop()
    }
  }

  /** Calls `hear` with each step, all steps of a new head at once. @returns what ends it */
  steps(hear: (change: ExecutedChange) => void): () => void {
    this.#queues.add(hear)
    this.#stop ??= this.#store.onHeadChange((reverted, applied) => {
      for (const tipset of reverted) this.#tell(tipset, true)
      for (const tipset of applied) this.#tell(tipset, false)
    })
    return () => {
      this.#queues.delete(hear)
      if (this.#queues.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  #tell(head: Tipset, isReverted: boolean): void {
    if (head.height === 0) return
    const change: ExecutedChange = { head, executed: this.#store.parent(head), isReverted }
    for (const push of this.#queues) push(change)
  }
}

/**
 * What is made of a step: once for all who hear of it about the same time.
 * @returns gives it; `call` is of the one who asks: others have their turn while it is made, and nobody gives it up
 */
export function oncePerStep<T>(
  make: (executed: Tipset, call: Walking) => Promise<T>,
): (change: ExecutedChange, call: Walking) => Promise<T> {
  const made = new Map<ExecutedChange, Promise<T>>()
  return (change, { walk }) => {
    const known = made.get(change)
    if (known !== undefined) return known
    const { signal } = UNHURRIED
    const fresh = make(change.executed, { signal, walk: (steps) => walk(steps, signal) })
    made.set(change, fresh)
    for (const oldest of made.keys()) if (made.size > MAX_SHARED_STEPS) made.delete(oldest)
    return fresh
  }
}

/** Hands over one after the other. */
export function* each<T>(items: Iterable<T>, tell: (item: T) => void): Steps<void> {
  for (const item of items) {
    tell(item)
    yield
  }
}
