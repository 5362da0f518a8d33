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
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
