/**
 * Executes a chain's newest tipsets once more, a little after a node's start. The first tipset of a process takes several times as long
 * as the next ones, whose code is compiled: here that is neither the first that comes nor a caller's, and what callers
 * ask of the newest tipsets is remembered, as that of tipsets which were asked for before.
 * @see src/execution/cachingVmHost.ts
 */
import { errorMessage } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { VmHost } from '../chain/vm.ts'
import type { ExecutionTimes } from '../execution/executionTimes.ts'

/** By then a node serves, and one that is behind executes what it missed, ms. */
const AFTER_MS = 2000
/** Time of execution after which code is compiled, ms. */
const ENOUGH_MS = 1000
/** Nearly empty ones take some ms each, and one like the other. */
const MAX_TIPSETS = 30

/** Of whom. */
export interface WarmUpDeps {
  readonly store: Pick<ChainStore, 'head' | 'parent'>
  readonly vm: Pick<VmHost, 'computeForText'>
  /** What the node executes by itself counts. */
  readonly executions: Pick<ExecutionTimes, 'totalMs'>
}

/** See the file's note. What cannot be executed (state that is not kept) ends it. @returns what cancels it */
export function warmUpLater(
  deps: WarmUpDeps,
  { clock, timers, log }: { readonly clock: Clock; readonly timers: Timers; readonly log: Logger },
): () => void {
  const ended = new AbortController()
  const start = (): void => {
    warmUp(deps, clock, ended.signal).catch((error: unknown) =>
      log.debug('the newest tipsets were not executed again', { reason: errorMessage(error) }),
    )
  }
  const cancel = timers.setTimeout(start, AFTER_MS)
  return () => {
    cancel()
    ended.abort()
  }
}

async function warmUp({ store, vm, executions }: WarmUpDeps, clock: Clock, signal: AbortSignal): Promise<void> {
  const started = clock.monotonicMs()
  let tipset = store.head()
  for (let i = 0; i < MAX_TIPSETS && clock.monotonicMs() - started + executions.totalMs < ENOUGH_MS; i++) {
    await vm.computeForText(tipset, tipset.height, [], signal)
    if (tipset.height === 0) return
    tipset = store.parent(tipset)
  }
}
