/** A clock that stands still until a test moves it, with the timers that go by it. */
import type { Clock, Timers } from '../../src/base/ports.ts'

interface Entry {
  readonly at: number
  readonly order: number
  readonly fn: () => void
}

/** One turn of the event loop. A tab has no setImmediate, and slows timers down. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') {
      setImmediate(resolve)
      return
    }
    const { port1, port2 } = new MessageChannel()
    // The web's port; Node's types know only Node's own way to listen.
    const listening = port1 as unknown as { onmessage: () => void }
    listening.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}

/** Time that a test moves. Starts at `startMs`, Unix milliseconds. */
export class VirtualTime implements Clock, Timers {
  #now: number
  #order = 0
  #entries: Entry[] = []

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs
  }

  nowMs(): number {
    return this.#now
  }

  monotonicMs(): number {
    return this.#now
  }

  setTimeout(fn: () => void, ms: number): () => void {
    const entry = { at: this.#now + Math.max(0, ms), order: this.#order++, fn }
    this.#entries.push(entry)
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry)
    }
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#entries.length
  }

  /** Lets everything run that waits for nothing but promises. */
  async settle(): Promise<void> {
    // A turn of the event loop runs all microtasks; a few of them, since what runs may start more.
    for (let i = 0; i < 5; i++) await turn()
  }

  /** Moves the time on by `ms`, running what falls due in order, promises in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await this.settle()
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#entries = this.#entries.filter((entry) => entry !== next)
      this.#now = Math.max(this.#now, next.at)
      next.fn()
      await this.settle()
    }
    this.#now = end
  }

  /** Moves on from timer to timer until `promise` is settled. @param limitMs - gives up after so much virtual time */
  async until<T>(promise: Promise<T>, limitMs = 3_600_000): Promise<T> {
    let settled = false
    const done = promise.finally(() => {
      settled = true
    })
    done.catch(() => undefined)
    const end = this.#now + limitMs
    await this.settle()
    for (let idle = 0; !settled && idle < 50; ) {
      const next = this.#next(end)
      if (next === undefined) {
        // Work outside this clock (hashing in a thread, real I/O) may still be on its way.
        idle++
        await this.settle()
      } else {
        idle = 0
        await this.advance(Math.max(0, next.at - this.#now))
      }
    }
    if (!settled) throw new Error(`still waiting after ${limitMs} ms of virtual time, nothing left to happen`)
    return done
  }

  #next(end: number): Entry | undefined {
    let best: Entry | undefined
    for (const entry of this.#entries) {
      if (entry.at > end) continue
      if (best === undefined || entry.at < best.at || (entry.at === best.at && entry.order < best.order)) best = entry
    }
    return best
  }
}
