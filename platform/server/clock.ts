/** The machine's time and timers. */
import type { Clock, Timers } from '../../src/base/ports.ts'

/** Wall clock and monotonic clock of the process. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/** Timers of the event loop; none keeps the process alive. */
export const systemTimers: Timers = {
  setTimeout(fn, ms) {
    if (ms <= 0) {
      // Not unreferenced: the loop might sleep on it.
      const immediate = setImmediate(fn)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
