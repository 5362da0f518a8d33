/** Time that the test moves; what is due at once is due in a later turn of the loop. */
export class HandTime {
  now = 0
  turns = 0
  readonly #due = new Set<{ readonly at: number; readonly run: () => void }>()

  nowMs(): number {
    return this.now
  }

  monotonicMs(): number {
    return this.now
  }

  setTimeout(run: () => void, ms: number): () => void {
    if (ms === 0) {
      this.turns++
      const timer = setTimeout(run, 0)
      return () => clearTimeout(timer)
    }
    const one = { at: this.now + ms, run }
    this.#due.add(one)
    return () => this.#due.delete(one)
  }

  pass(ms: number): void {
    this.now += ms
    for (const one of [...this.#due]) {
      if (one.at > this.now) continue
      this.#due.delete(one)
      one.run()
    }
  }
}
