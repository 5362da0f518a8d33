import type { MonitorDeps } from './deps.ts'

/** A question that is asked again and again of one session, each time some while after the answer. */
export class Repeated {
  readonly #setTimer: MonitorDeps['setTimer']
  #cancel: () => void = () => undefined
  #run = 0

  constructor(setTimer: MonitorDeps['setTimer']) {
    this.#setTimer = setTimer
  }

  /**
   * Ends what was asked before.
   * @param ask - deals with its failures by itself
   * @param pauseMs - from answer to question
   */
  start(ask: () => Promise<void>, pauseMs: () => number): void {
    this.stop()
    const run = this.#run
    const again = async (): Promise<void> => {
      await ask()
      if (run === this.#run) this.#cancel = this.#setTimer(() => void again(), pauseMs())
    }
    void again()
  }

  stop(): void {
    this.#run++
    this.#cancel()
  }
}
