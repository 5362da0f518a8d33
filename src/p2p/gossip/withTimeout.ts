/** Work that must end in time. */
import type { Timers } from '../../base/ports.ts'
import { P2pError } from '../errors.ts'

/**
 * The result of `run`, which is told by its signal when the time is over and need not obey.
 * @param outer - ends it early
 * @throws P2pError `TIMEOUT`; the reason of `outer`; whatever `run` throws
 */
export async function withTimeout<T>(
  timers: Timers,
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  outer?.throwIfAborted()
  const controller = new AbortController()
  let stop: (() => void) | undefined
  let cancel: (() => void) | undefined
  const over = new Promise<never>((_resolve, reject) => {
    const end = (reason: unknown): void => {
      controller.abort(reason)
      reject(reason as Error)
    }
    cancel = timers.setTimeout(() => end(new P2pError('TIMEOUT', `Cannot finish within ${ms} ms`)), ms)
    stop = () => end(outer?.reason)
    outer?.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([run(controller.signal), over])
  } finally {
    cancel?.()
    if (stop !== undefined) outer?.removeEventListener('abort', stop)
  }
}
