/**
 * Decoded tree nodes by CID. Content addressed, so one cache serves every tree and every layer of a store; nodes in it
 * are never written to.
 *
 * Two generations instead of a linked list: a read costs one map lookup, an eviction drops the whole older generation.
 */

/** Nodes per generation. A HAMT node of width 5 takes about 3 kB decoded, so two generations stay near 200 MB. */
const DEFAULT_GENERATION_SIZE = 32_768

/** A bounded map from {@link Cid.key} to a decoded node. */
export class NodeCache {
  readonly #limit: number
  #young = new Map<string, object>()
  #old = new Map<string, object>()

  /** @param limit - nodes per generation */
  constructor(limit: number = DEFAULT_GENERATION_SIZE) {
    this.#limit = limit
  }

  get(key: string): object | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, node: object): void {
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, node)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
