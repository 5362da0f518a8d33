import { MAX_BACKOFF_MS } from '../gossip/limits.ts'
import { around } from './around.ts'
import type { Router } from './router.ts'

/** The part of gossipsub's class that its types keep private. */
interface Backoffs {
  doAddBackoff(id: string, topic: string, intervalMs: number): void
}

/**
 * A peer says in its PRUNE how long it is not to be grafted. What has run out is swept away, so that of many names which each ask for a
 * century all stayed in memory; and none of them is worth so long a wait.
 * @throws P2pError `NOT_SUPPORTED`
 */
export function boundBackoffs(router: Router): void {
  around(router as unknown as Backoffs, 'doAddBackoff', (add) => (id, topic, intervalMs) => {
    add(id, topic, Math.min(intervalMs, MAX_BACKOFF_MS))
  })
}
