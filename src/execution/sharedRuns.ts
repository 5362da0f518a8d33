/** Work that several ask for at once, done once. */

import { whenAborted } from '../base/waiting.ts'
import { ChainError } from '../chain/errors.ts'
import { URGENCY, Urgency, type UrgencyLevel } from '../chain/urgency.ts'

interface Run<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  /** Of those who wait, the highest. */
  readonly urgency: Urgency
  askers: number
}

/** Runs by key. A run is cancelled when everybody who asked for it has given up. */
export class SharedRuns<T> {
  readonly #runs = new Map<string, Run<T>>()

  /**
   * The run of this key, begun by `start` when there is none.
   * @throws ChainError `CANCELLED`; whatever the run throws
   */
  async join(
    key: string,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal, urgency: Urgency) => Promise<T>,
    level: UrgencyLevel = URGENCY.caller,
  ): Promise<T> {
    if (signal?.aborted === true) throw cancelled()
    let run = this.#runs.get(key)
    if (run === undefined) {
      run = this.#begin(key, start, level)
      this.#runs.set(key, run)
    }
    run.urgency.raise(level)
    const joined = run
    joined.askers++
    if (signal === undefined) return joined.result
    let stopListening = (): void => undefined
    try {
      return await new Promise<T>((resolve, reject) => {
        const leave = (): void => {
          if (--joined.askers === 0) {
            // Whoever asks now must not join a run that is being ended.
            if (this.#runs.get(key) === joined) this.#runs.delete(key)
            joined.controller.abort()
          }
          reject(cancelled())
        }
        stopListening = whenAborted(signal, leave)
        joined.result.then(resolve, reject)
      })
    } finally {
      stopListening()
    }
  }

  /** For whom the run of this key is; undefined: there is none. */
  level(key: string): UrgencyLevel | undefined {
    return this.#runs.get(key)?.urgency.level
  }

  #begin(key: string, start: (signal: AbortSignal, urgency: Urgency) => Promise<T>, level: UrgencyLevel): Run<T> {
    const controller = new AbortController()
    const urgency = new Urgency(level)
    const result = start(controller.signal, urgency).finally(() => {
      if (this.#runs.get(key)?.result === result) this.#runs.delete(key)
    })
    // Somebody may have left before it fails.
    result.catch(() => undefined)
    return { result, controller, urgency, askers: 0 }
  }
}

function cancelled(): ChainError {
  return new ChainError('CANCELLED', 'Cannot execute: the request was cancelled')
}
