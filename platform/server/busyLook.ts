/** Whether a process has much to do. */

const MICROS_PER_MS = 1000
/** Share of a processor that is much. */
const BUSY = 0.5

/** Compares the processor's time of all threads with the clock, from one look to the next. */
export class BusyLook {
  #used = process.cpuUsage()
  #at = performance.now()

  /** Since the look before, or since this was made. */
  isBusy(): boolean {
    const now = performance.now()
    const used = process.cpuUsage()
    const micros = used.user + used.system - this.#used.user - this.#used.system
    const isBusy = micros > BUSY * (now - this.#at) * MICROS_PER_MS
    this.#used = used
    this.#at = now
    return isBusy
  }
}
