/** Tells the operator when a node loses its peers, and when it has some again. */
import type { Logger, Timers } from '../base/ports.ts'

/** Between two looks, ms: what comes back within that was no loss. */
export const PEERS_LOOK_MS = 10_000

/** What {@link logPeers} looks at. */
export interface PeerLogDeps {
  /** How many are connected. */
  readonly peers: () => number
  readonly timers: Timers
  readonly log: Logger
}

/**
 * A line when the last peer is gone, or more than half of those that were there when it was last told; one when there are as many
 * again as before the loss.
 * @returns what ends it
 */
export function logPeers({ peers, timers, log }: PeerLogDeps): () => void {
  /** The most since the last line. */
  let most = 0
  /** How many there were before the loss that was told. */
  let before: number | undefined
  const look = (): void => {
    const now = peers()
    if (before !== undefined && now >= before) {
      log.info('peers again', { peers: now })
      before = undefined
    } else if (most > 0 && (now === 0 || now < most / 2)) {
      log.warn('peers lost', { peers: now, before: most })
      before ??= most
      most = now
      return
    }
    most = Math.max(most, now)
  }
  let cancel: () => void = () => undefined
  const again = (): void => {
    cancel = timers.setTimeout(() => {
      look()
      again()
    }, PEERS_LOOK_MS)
  }
  again()
  return () => cancel()
}
