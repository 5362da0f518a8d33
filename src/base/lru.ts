/** A map with a bound. */

/** Forgets what was used longest ago. Values must not be `undefined`. */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #limit: number
  readonly #weigh: (value: V) => number
  #weight = 0

  /**
   * @param limit - entries kept, or what all of them may weigh together; the latest is kept whatever it weighs
   * @param weigh - the same whenever it is asked. Default: 1
   */
  constructor(limit: number, weigh: (value: V) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#weight += this.#weigh(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#limit || this.#entries.size === 1) break
      this.delete(oldest)
    }
  }

  /** What is held, least used first. */
  values(): IterableIterator<V> {
    return this.#entries.values()
  }

  delete(key: K): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weigh(value)
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  get size(): number {
    return this.#entries.size
  }
}
