/** Whether the machine of a database is there at all. Node and Deno. */
import { connect } from 'node:net'
import type { Timers } from '../../../src/base/ports.ts'
import { serverAddress } from './serverUrls.ts'

/** What the system says of a machine that is not there; that it refuses is an answer. */
const GONE: ReadonlySet<string | undefined> = new Set([
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
])

/**
 * Opens a connection and closes it.
 * @param url - `postgres://host:port/…`
 * @returns false: nothing has answered within `ms` milliseconds, or nothing can
 */
export function isReachable(url: string, ms: number, timers: Timers): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(serverAddress(url))
    const end = (isThere: boolean): void => {
      cancel()
      socket.destroy()
      resolve(isThere)
    }
    const cancel = timers.setTimeout(() => end(false), ms)
    socket.once('connect', () => end(true))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => end(!GONE.has(code)))
  })
}
