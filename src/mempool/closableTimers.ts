import type { Timers } from '../base/ports.ts'

/** Timers that all end together. */
export class ClosableTimers {
  readonly #timers: Timers
  readonly #running = new Set<() => void>()
  #closed = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Runs once, unless everything is closed before. */
  after(ms: number, run: () => void): void {
    const cancel = this.#timers.setTimeout(() => {
      this.#running.delete(cancel)
      run()
    }, ms)
    this.#running.add(cancel)
  }

  /** Never ends when everything is closed before. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  close(): void {
    this.#closed = true
    for (const cancel of this.#running) cancel()
    this.#running.clear()
  }
}
