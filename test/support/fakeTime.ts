import type { Clock, Timers } from '../../src/base/ports.ts'

/** What work rests between its turns, ms: at most this. */
const REST_MS = 1

/** Time that the test moves. What is due at once needs no time, and rests need none. */
export class FakeTime implements Clock, Timers {
  now = 0
  readonly #due: { at: number; run: () => void }[] = []

  nowMs(): number {
    return this.now
  }

  monotonicMs(): number {
    return this.now
  }

  setTimeout(fn: () => void, ms: number): () => void {
    if (ms <= REST_MS) {
      const due = globalThis.setTimeout(fn, 0)
      return () => clearTimeout(due)
    }
    const entry = { at: this.now + ms, run: fn }
    this.#due.push(entry)
    return () => {
      const index = this.#due.indexOf(entry)
      if (index >= 0) this.#due.splice(index, 1)
    }
  }

  /** Lets time pass; runs what falls due and lets promises settle in between. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms
    for (;;) {
      for (let i = 0; i < 20; i++) await Promise.resolve()
      const next = this.#due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#due.splice(this.#due.indexOf(next), 1)
      this.now = Math.max(this.now, next.at)
      next.run()
    }
    this.now = end
  }
}
