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

/** Carries out what costs much when there is a place for it; its signal is aborted when nobody waits for it any more. */
export type InPlace = <T>(task: (signal: AbortSignal) => Promise<T>) => Promise<T>

/** Who waits for what is walked to, and perhaps executed. */
export interface Waiter {
  /** Aborted: nobody waits any more. */
  readonly signal: AbortSignal
  readonly walk: Walk
  /** Where what has to be executed waits for its place. Absent: it has one, or needs none. */
  readonly execute?: InPlace | undefined
}
