/** So much at once, so much per second. */

/** A rate with a burst. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

/** What is left of a {@link Rate}. */
export class TokenBucket {
  readonly #rate: Rate
  #left: number
  #atMs: number

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate
    this.#left = rate.burst
    this.#atMs = nowMs
  }

  /** @returns false, nothing taken, when there is not enough */
  take(nowMs: number, amount = 1): boolean {
    const grown = this.#left + ((nowMs - this.#atMs) / 1000) * this.#rate.perSecond
    this.#left = Math.min(this.#rate.burst, grown)
    this.#atMs = nowMs
    if (this.#left < amount) return false
    this.#left -= amount
    return true
  }
}
