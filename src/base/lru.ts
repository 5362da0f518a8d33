/** A map with a bound. */

/** Forgets what was used longest ago. Values must not be `undefined`. */
export class Lru<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #limit: number

  /** @param limit - entries kept */
  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#limit) {
      const oldest = this.#entries.keys().next()
      if (oldest.done !== true) this.#entries.delete(oldest.value)
    }
  }

  /** What is held, least used first. */
  values(): IterableIterator<V> {
    return this.#entries.values()
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  get size(): number {
    return this.#entries.size
  }
}
