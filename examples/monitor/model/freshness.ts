/** Whether the head is as new as the clock of this machine says it should be. */

/** Epochs without a new tipset after which a head is called stale. */
export const STALE_EPOCHS = 3

export type Freshness =
  | { readonly at: 'fresh' }
  /** The head is this many whole epochs behind the clock. */
  | { readonly at: 'stale'; readonly epochs: number }
  /** The head is of the future: one of the clocks is wrong. */
  | { readonly at: 'ahead'; readonly epochs: number }

/**
 * @param timestamp - of the head, Unix seconds
 * @param nowSec - this machine's clock, Unix seconds
 * @param blockDelay - seconds per epoch
 */
export function freshness(timestamp: number, nowSec: number, blockDelay: number): Freshness {
  const epochs = (nowSec - timestamp) / blockDelay
  if (epochs > STALE_EPOCHS) return { at: 'stale', epochs: Math.floor(epochs) }
  if (epochs < -STALE_EPOCHS) return { at: 'ahead', epochs: Math.floor(-epochs) }
  return { at: 'fresh' }
}
