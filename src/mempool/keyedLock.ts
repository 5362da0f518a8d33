/** Mutual exclusion by key, first come first served: one send at a time for each sender. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>()

  /** Runs `task` when every earlier task of the same key has ended, failed or not. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    let release: () => void = () => undefined
    const done = new Promise<void>((resolve) => {
      release = resolve
    })
    this.#tails.set(key, done)
    try {
      await before
      return await task()
    } finally {
      if (this.#tails.get(key) === done) this.#tails.delete(key)
      release()
    }
  }
}
