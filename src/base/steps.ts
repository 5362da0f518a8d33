/**
 * A long walk in small steps. It is written as a generator that yields between two of them and returns the result: who runs it
 * decides whether others have their turn in between, and whether to go on at all.
 */

/** A walk whose steps take microseconds each, and what it gives in the end. */
export type Steps<T> = Generator<void, T, void>

/** Takes all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
  }
}

/** Takes a walk to its end: at once where it is short, else in a promise. */
export type Walk = <T>(steps: Steps<T>) => T | Promise<T>

/** Who waits for what is walked to. */
export interface Waiter {
  /** Aborted: nobody waits any more. */
  readonly signal: AbortSignal
  readonly walk: Walk
}
