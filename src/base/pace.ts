import type { Clock, Timers } from './ports.ts'
import type { Steps } from './steps.ts'
import { letOthers, sleep } from './waiting.ts'

/**
 * Long work on the event loop that lets others have their turn. Ask {@link Pace.isDue} between two steps, and wait for
 * {@link Pace.pause} when it says so.
 */
export class Pace {
  readonly #time: { readonly clock: Clock; readonly timers: Timers }
  readonly #turnMs: number
  #sinceMs: number

  /** @param turnMs - how long work may go on */
  constructor(clock: Clock, timers: Timers, turnMs: number) {
    this.#time = { clock, timers }
    this.#turnMs = turnMs
    this.#sinceMs = clock.monotonicMs()
  }

  /** The turn is over. */
  get isDue(): boolean {
    return this.#time.clock.monotonicMs() - this.#sinceMs >= this.#turnMs
  }

  /**
   * Resolves in a later turn of the loop.
   * @param restMs - of others alone; 0: as long as they have something to do, a millisecond at most
   * @throws the signal's reason
   */
  async pause(restMs = 0, signal?: AbortSignal): Promise<void> {
    await (restMs > 0 ? sleep(this.#time.timers, restMs, signal) : letOthers(this.#time, signal))
    this.#sinceMs = this.#time.clock.monotonicMs()
  }

  /** Takes a walk to its end, with pauses. @throws the signal's reason, where it pauses; what the walk throws */
  async walk<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      const next = steps.next()
      if (next.done === true) return next.value
      if (this.isDue) await this.pause(0, signal)
    }
  }
}
