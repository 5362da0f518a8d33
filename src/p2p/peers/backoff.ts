/** Waits that double with each failure. */

interface Failure {
  readonly waitMs: number
  readonly untilMs: number
}

/** Failures by name, with a bound: the oldest are forgotten. */
export class Backoff {
  readonly #failures = new Map<string, Failure>()
  readonly #firstMs: number
  readonly #longestMs: number
  readonly #limit: number

  constructor({ firstMs, longestMs, limit }: { firstMs: number; longestMs: number; limit: number }) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
    this.#limit = limit
  }

  mayTry(name: string, nowMs: number): boolean {
    return (this.#failures.get(name)?.untilMs ?? Number.NEGATIVE_INFINITY) <= nowMs
  }

  failed(name: string, nowMs: number): void {
    const before = this.#failures.get(name)
    const waitMs = before === undefined ? this.#firstMs : Math.min(this.#longestMs, before.waitMs * 2)
    this.#failures.delete(name)
    this.#failures.set(name, { waitMs, untilMs: nowMs + waitMs })
    if (this.#failures.size <= this.#limit) return
    const oldest = this.#failures.keys().next()
    if (oldest.done !== true) this.#failures.delete(oldest.value)
  }

  succeeded(name: string): void {
    this.#failures.delete(name)
  }
}
