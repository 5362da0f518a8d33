/** A map that forgets by generations. */

/** Keeps the entries that were used last: two generations where there are so many, three at most. Values must not be `undefined`. */
export class Generations<K, V> {
  readonly #most: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  /** @param most - entries of a generation */
  constructor(most: number) {
    this.#most = most
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    // Into a generation that is full, too: else a walk over two of them would lose what it comes to next.
    this.#old.delete(key)
    this.#young.set(key, old)
    return old
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#most) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
