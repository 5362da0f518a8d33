/**
 * Waiting, with an end to it. Timers of the core do not keep a process alive by themselves (ports.ts): who waits here keeps
 * nothing alive that nothing else does.
 */
import type { Clock, Timers } from './ports.ts'

/**
 * Resolves after `ms` milliseconds.
 * @param signal - ends it early
 * @throws the signal's reason
 */
export function sleep(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error)
      return
    }
    let stop = (): void => undefined
    const cancel = timers.setTimeout(() => {
      stop()
      resolve()
    }, ms)
    stop = whenAborted(signal, () => {
      cancel()
      reject(signal?.reason as Error)
    })
  })
}

/** Time in which the event loop gets round where nobody else has anything to do, ms. */
const ROUND_MS = 0.1
/** For what follows on what others did: a client that has its answer asks again. */
const REST_MS = 1

/**
 * Lets everything else on the event loop have its turn, and where there was something, what follows on it at once: always to rest a
 * millisecond, the least that a timer knows, would take a quarter of the time of work that is done in turns of three.
 * @throws the signal's reason
 */
export async function letOthers(
  { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
  signal?: AbortSignal,
): Promise<void> {
  const began = clock.monotonicMs()
  await sleep(timers, 0, signal)
  if (clock.monotonicMs() - began > ROUND_MS) await sleep(timers, REST_MS, signal)
}

/**
 * Runs `run` once, when the signal fires, or at once if it has.
 * @returns ends the listening
 */
export function whenAborted(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal?.aborted === true) run()
  signal?.addEventListener('abort', run, { once: true })
  return () => signal?.removeEventListener('abort', run)
}

/** Whether it failed because the signal was aborted, or because of such a failure. */
export function isReasonOf(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.cause === signal.reason))
}

/** Resolves when the signal fires. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => whenAborted(signal, resolve))
}

/**
 * What a promise gives, unless the signal fires before; what nobody waits for any more may still run.
 * @throws the signal's reason; what the promise rejects with
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Whoever loses has nobody left to hear of its failure.
  promise.catch(() => undefined)
  signal.throwIfAborted()
  let stop = (): void => undefined
  const given = new Promise<never>((_, reject) => {
    stop = whenAborted(signal, () => reject(signal.reason as Error))
  })
  try {
    return await Promise.race([promise, given])
  } finally {
    stop()
  }
}

/**
 * The result of `run`, which is told by its signal when the time is over and need not obey.
 * @param late - the error when the time is over
 * @param outer - ends it early
 * @throws `late()`; the reason of `outer`; whatever `run` throws
 */
export async function withTimeout<T>(
  timers: Timers,
  ms: number,
  late: () => Error,
  run: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  outer?.throwIfAborted()
  const over = new AbortController()
  const cancel = timers.setTimeout(() => over.abort(late()), ms)
  const signal = outer === undefined ? over.signal : AbortSignal.any([outer, over.signal])
  try {
    return await abortable(run(signal), signal)
  } finally {
    cancel()
  }
}

/** One task at a time, first come first served; a failed one stops nobody. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `task` when every earlier one has ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Resolves when all that was given has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}
