/** Whether a process has much to do. */
import { performance } from 'node:perf_hooks'

const MICROS_PER_MS = 1000
/** Share of a processor, or of its own thread's time, that is much. */
const BUSY = 0.5

/**
 * Compares with the clock, from one look to the next, the processor's time of all threads, and how long the event loop had something to do:
 * where many processes want the processors, who is busy gets little of them.
 */
export class BusyLook {
  #used = process.cpuUsage()
  #loop = performance.eventLoopUtilization()
  #at = performance.now()

  /** Since the look before, or since this was made. */
  isBusy(): boolean {
    const now = performance.now()
    const used = process.cpuUsage()
    const loop = performance.eventLoopUtilization()
    const micros = used.user + used.system - this.#used.user - this.#used.system
    const { utilization } = performance.eventLoopUtilization(loop, this.#loop)
    const isBusy = micros > BUSY * (now - this.#at) * MICROS_PER_MS || utilization > BUSY
    this.#used = used
    this.#loop = loop
    this.#at = now
    return isBusy
  }
}
