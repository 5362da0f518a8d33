import { MAX_SENT_NAMES } from '../chain/limits.ts'

/**
 * Names of blocks that a thread has, up to a number of them: then the list is begun anew, and what is asked for is sent
 * again.
 */
export class SentNames {
  readonly #names = new Set<string>()

  add(name: string): void {
    if (this.#names.size >= MAX_SENT_NAMES) this.#names.clear()
    this.#names.add(name)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  get size(): number {
    return this.#names.size
  }
}
