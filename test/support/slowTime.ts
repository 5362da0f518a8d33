/** A clock by which everything takes long. */

/** What work rests where others had something to do, ms: no deadline is as short. */
const REST_MS = 1

/** Every look at it finds a turn over: each step is a turn of its own, and others had something to do in it. */
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
    if (ms > REST_MS) return () => undefined
    if (ms === 0) this.turns++
    const timer = setTimeout(run, 0)
    return () => clearTimeout(timer)
  }
}
