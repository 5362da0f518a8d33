/** A clock by which everything takes long. */

/** Every look at it finds a turn over: each step is a turn of its own. */
export class SlowTime {
  now = 0
  turns = 0

  nowMs(): number {
    return this.monotonicMs()
  }

  monotonicMs(): number {
    this.now += 10
    return this.now
  }

  setTimeout(run: () => void, ms: number): () => void {
    if (ms > 0) return () => undefined
    this.turns++
    const timer = setTimeout(run, 0)
    return () => clearTimeout(timer)
  }
}
