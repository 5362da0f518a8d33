/** The log of a tab: the browser's console. */
import type { ErrorInfo } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'

/** Levels from the most talkative to none at all. */
export const BROWSER_LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type BrowserLogLevel = (typeof BROWSER_LOG_LEVELS)[number]

/** A log of events from `level` on. */
export function consoleLogger(level: BrowserLogLevel): Logger {
  const least = BROWSER_LOG_LEVELS.indexOf(level)
  const at =
    (own: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, info?: ErrorInfo): void => {
      if (BROWSER_LOG_LEVELS.indexOf(own) < least) return
      if (info === undefined) console[own](`petrel: ${message}`)
      else console[own](`petrel: ${message}`, info)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
