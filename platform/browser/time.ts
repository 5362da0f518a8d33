/** Time in a worker of a browser: a clock, and timers that a sleeping laptop does not stop. */
import type { Clock, Timers } from '../../src/base/ports.ts'

/** `nowMs` follows the system's clock, and its corrections; `monotonicMs` may stand while the computer sleeps. */
export const browserClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}

/**
 * Longest sleep of one browser timer, ms. A timer's own clock stands still while the machine sleeps, and a hidden tab's
 * timers are slowed down: a long wait is cut in slices that look at the wall clock, so that what is overdue runs within
 * one slice after waking.
 */
const SLICE_MS = 5000

/** What is to run as soon as what else waits had its turn. Timers take four milliseconds at least, and a second in a hidden tab. */
const soon: (() => void)[] = []
const { port1: heard, port2: said } = new MessageChannel()
heard.onmessage = () => soon.shift()?.()

/** Timers that look at both clocks every few seconds: after a sleep they are late by no more than that. */
export const browserTimers: Timers = {
  setTimeout(fn, ms) {
    if (ms <= 0) {
      let run: (() => void) | undefined = fn
      soon.push(() => run?.())
      said.postMessage(undefined)
      return () => {
        run = undefined
      }
    }
    const dueWall = Date.now() + ms
    const dueMonotonic = performance.now() + ms
    let timer: ReturnType<typeof setTimeout>
    // Either clock will do: the wall clock may be set back, the other one stops in sleep.
    const left = (): number => Math.min(dueWall - Date.now(), dueMonotonic - performance.now())
    const arm = (): void => {
      timer = setTimeout(
        () => {
          if (left() <= 1) fn()
          else arm()
        },
        Math.min(SLICE_MS, Math.max(0, left())),
      )
    }
    arm()
    return () => clearTimeout(timer)
  },
}
