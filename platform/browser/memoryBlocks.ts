/** The blocks at hand: those used lately, within a bound, and those that are nowhere else yet. */

/**
 * Two generations, as in NodeCache: a read costs two lookups, and an eviction drops the older half. Blocks that wait to be
 * written are outside the bound.
 */
export class MemoryBlocks {
  readonly #generationBytes: number
  readonly #waiting = new Map<string, Uint8Array>()
  #young = new Map<string, Uint8Array>()
  #old = new Map<string, Uint8Array>()
  #youngBytes = 0

  /** @param maxBytes - of blocks that are on disk too */
  constructor(maxBytes: number) {
    this.#generationBytes = maxBytes / 2
  }

  get(key: string): Uint8Array | undefined {
    const young = this.#waiting.get(key) ?? this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.keep(key, old)
    return old
  }

  /** Whether it is to be written yet, or is being written. */
  isWaiting(key: string): boolean {
    return this.#waiting.has(key)
  }

  has(key: string): boolean {
    return this.#waiting.has(key) || this.#young.has(key) || this.#old.has(key)
  }

  /** Whether it was used since the last turn of generations. */
  isRecent(key: string): boolean {
    return this.#waiting.has(key) || this.#young.has(key)
  }

  /** Holds a block until {@link MemoryBlocks.written}. */
  wait(key: string, data: Uint8Array): void {
    this.#waiting.set(key, data)
  }

  /** It is on disk: from now on it may be forgotten. */
  written(key: string): void {
    const data = this.#waiting.get(key)
    if (data === undefined) return
    this.#waiting.delete(key)
    this.keep(key, data)
  }

  /** Keeps a block that is on disk. */
  keep(key: string, data: Uint8Array): void {
    if (this.#young.has(key)) return
    if (this.#youngBytes >= this.#generationBytes) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(key, data)
    this.#youngBytes += data.length
  }

  clear(): void {
    this.#waiting.clear()
    this.#young.clear()
    this.#old.clear()
  }
}
