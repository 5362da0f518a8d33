/** How many calls of one kind wait and run, of all callers and of each. */
import { type Count, OwnCount } from '../base/count.ts'

/** Calls of one kind that are under way: of a queue, or of several that share their bounds. */
export interface CallCounts {
  readonly waiting: Count
  readonly running: Count
  /** Those that run for callers without a token. */
  readonly runningWithoutToken: Count
  /** Waiting and running. */
  ofCaller(name: string): Count
  runningOfCaller(name: string): Count
  /** Queues that count here, too, and run nothing at present. */
  idle(): number
}

/** By caller; who has none takes no memory. */
class CallerCounts {
  readonly #calls = new Map<string, number>()

  of(name: string): Count {
    const total = (): number => this.#calls.get(name) ?? 0
    const add = (by: number): void => {
      if (total() + by === 0) this.#calls.delete(name)
      else this.#calls.set(name, total() + by)
    }
    return { add, total }
  }
}

/** Of a queue that shares with nobody. */
export class OwnCalls implements CallCounts {
  readonly waiting: Count = new OwnCount()
  readonly running: Count = new OwnCount()
  readonly runningWithoutToken: Count = new OwnCount()
  readonly #calls = new CallerCounts()
  readonly #running = new CallerCounts()

  ofCaller(name: string): Count {
    return this.#calls.of(name)
  }

  runningOfCaller(name: string): Count {
    return this.#running.of(name)
  }

  idle(): number {
    return 0
  }
}
