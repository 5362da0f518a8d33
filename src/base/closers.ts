/** What can be closed, in order. */

/** What is to be undone when something ends, the last opened first. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Undoes everything, whatever fails; later calls find nothing left. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
