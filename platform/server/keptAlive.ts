/** Longest period of a timer, ms. */
const MAX_TIMER_MS = 0x7fffffff

/** The core's timers keep no process alive: this does, also while all is taken apart. */
export async function keptAlive<T>(run: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, MAX_TIMER_MS)
  try {
    return await run()
  } finally {
    clearInterval(timer)
  }
}
