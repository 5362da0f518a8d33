/** How many calls of one kind wait, run and are refused, of all callers and of each. */
import type { COST_LIMITS } from '../base/bounds.ts'
import { type Count, OwnCount } from '../base/count.ts'

/** Calls of one kind that are under way: of a queue, or of several that share their bounds. */
export interface CallCounts {
  readonly waiting: Count
  readonly running: Count
  /** Those that run for callers without a token. */
  readonly runningWithoutToken: Count
  /** Refused for being one too many, since the start. */
  readonly refused: Count
  /** Waiting and running. */
  ofCaller(name: string): Count
  runningOfCaller(name: string): Count
  /** Queues that count here, too, and run nothing at present. */
  idle(): number
}

type Kind = keyof typeof COST_LIMITS
/** Those of all kinds. */
export type AllCounts = Readonly<Record<Kind, CallCounts>>

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
  readonly refused: Count = new OwnCount()
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

/** Counts of each kind. @param shared - of kinds whose bounds hold for several threads together */
export function countsOfAll(shared: (kind: Kind) => CallCounts | undefined = () => undefined): AllCounts {
  const counts = (kind: Kind): CallCounts => shared(kind) ?? new OwnCalls()
  return {
    ...{ scan: counts('scan'), execute: counts('execute'), stream: counts('stream') },
    ...{ sign: counts('sign'), wait: counts('wait') },
  }
}
