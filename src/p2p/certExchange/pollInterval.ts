/**
 * How long to wait between two questions for certificates, so that each finds about one.
 * @see go-f3 certexchange/polling/predictor.go
 */

/** Failures in a row lengthen the wait up to so many times the longest interval. */
const MAX_BACKOFF = 10
/** A step that overshot is cut to a third, one that fell short doubled. */
const SHRINK = 3
const GROW = 2
/** Certificates at once after which the guess is thrown away. */
const FAR_OFF = 2
/** Smallest step, as a share of the shortest interval; largest, of the longest. */
const SMALLEST_STEP = 1 / 100
const LARGEST_STEP = 1 / 2

/** See the file's comment. All times in milliseconds. */
export class PollInterval {
  readonly #minimum: number
  readonly #maximum: number
  #interval: number
  #step: number
  #wasIncreasing = false
  #backoff = 0

  /** Starts with the shortest. */
  constructor(minimum: number, maximum: number) {
    this.#minimum = minimum
    this.#maximum = maximum
    this.#interval = minimum
    this.#step = minimum / 2
  }

  /** @param progress - certificates that the last question brought @returns the wait until the next */
  next(progress: number): number {
    if (this.#backoff > 0) {
      if (progress > 0) this.#backoff = 0
    } else if (progress !== 1) this.#explore(progress)
    if (this.#backoff === 0) return this.#interval
    const wait = this.#backoff
    this.#backoff = Math.min(2 * this.#backoff, MAX_BACKOFF * this.#maximum)
    return wait
  }

  #explore(progress: number): void {
    const turned = this.#wasIncreasing === progress > 1
    if (turned) this.#step /= SHRINK
    else if (progress <= FAR_OFF) this.#step *= GROW
    else {
      this.#interval /= progress
      this.#step = this.#interval / 2
    }
    this.#step = clamp(this.#step, this.#minimum * SMALLEST_STEP, this.#maximum * LARGEST_STEP)
    this.#wasIncreasing = progress === 0
    // A skipped instance must not spoil the guess: until the next certificate only the backoff counts.
    if (progress === 0) this.#backoff = this.#interval
    this.#interval = clamp(this.#interval + (progress === 0 ? this.#step : -this.#step), this.#minimum, this.#maximum)
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
