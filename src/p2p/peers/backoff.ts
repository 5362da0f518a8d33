/** Waits that double with each failure. */

interface Failure {
  readonly waitMs: number
  readonly failedMs: number
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

  /** @param longestMs - to wait, however often it failed */
  mayTry(name: string, nowMs: number, longestMs: number = this.#longestMs): boolean {
    const failure = this.#failures.get(name)
    return failure === undefined || nowMs >= failure.failedMs + Math.min(failure.waitMs, longestMs)
  }

  failed(name: string, nowMs: number): void {
    const before = this.#failures.get(name)
    const waitMs = before === undefined ? this.#firstMs : Math.min(this.#longestMs, before.waitMs * 2)
    this.#failures.delete(name)
    this.#failures.set(name, { waitMs, failedMs: nowMs })
    if (this.#failures.size <= this.#limit) return
    const oldest = this.#failures.keys().next()
    if (oldest.done !== true) this.#failures.delete(oldest.value)
  }

  succeeded(name: string): void {
    this.#failures.delete(name)
  }
}
