import type { Clock, Timers } from './ports.ts'
import type { Steps } from './steps.ts'
import { letOthers, sleep } from './waiting.ts'

/**
 * Pauses for work in many small parts, so that nothing else waits long for the event loop. Those who share one take turns.
 */
export class Breather {
  readonly #time: { readonly clock: Clock; readonly timers: Timers }
  readonly #stretchMs: number
  readonly #restMs: number
  #spentMs = 0
  #turn: Promise<void> = Promise.resolve()

  /** @param stretchMs - how long others may be kept waiting @param restMs - pause after a stretch; 0: see {@link letOthers} */
  constructor(time: { readonly clock: Clock; readonly timers: Timers }, stretchMs: number, restMs = 0) {
    this.#time = time
    this.#stretchMs = stretchMs
    this.#restMs = restMs
  }

  /** Runs a part when it is its turn. @param part - what it does before it first waits is what counts */
  async run<T>(part: () => Promise<T>): Promise<T> {
    this.#turn = this.#turn.then(() => this.#pause())
    await this.#turn
    const began = this.#time.clock.monotonicMs()
    const result = part()
    this.#spentMs += this.#time.clock.monotonicMs() - began
    return result
  }

  /**
   * Takes steps to their end, in each turn as many as fit in a stretch.
   * @param check - throws to end that, before each of them
   */
  async walk<T>(steps: Steps<T>, check: () => void): Promise<T> {
    for (;;) {
      const next = await this.run(async () => this.stretch(steps, check))
      if (next.done === true) return next.value
    }
  }

  /** As many steps as fit in a stretch, now. */
  stretch<T>(steps: Steps<T>, check: () => void): IteratorResult<void, T> {
    const end = this.#time.clock.monotonicMs() + this.#stretchMs
    for (;;) {
      check()
      const next = steps.next()
      if (next.done === true || this.#time.clock.monotonicMs() >= end) return next
    }
  }

  /** Whether others have waited long enough. */
  get isSpent(): boolean {
    return this.#spentMs >= this.#stretchMs
  }

  /** Counts work that was done outside of a part. */
  spend(ms: number): void {
    this.#spentMs += ms
  }

  async #pause(): Promise<void> {
    if (!this.isSpent) return
    await (this.#restMs > 0 ? sleep(this.#time.timers, this.#restMs) : letOthers(this.#time))
    this.#spentMs = 0
  }
}
