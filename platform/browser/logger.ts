/** The log of a tab: the browser's console. */
import { partedLog } from '../../src/base/partedLog.ts'
import type { Logger } from '../../src/base/ports.ts'

/** Levels from the most talkative to none at all. */
const BROWSER_LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** What is written to the console: lines of this level and above; `silent`: none. */
export type BrowserLogLevel = (typeof BROWSER_LOG_LEVELS)[number]

/** A log of events from `level` on. */
export function consoleLogger(level: BrowserLogLevel): Logger {
  return partedLog(level, (own, part, message, info) => {
    if (info === undefined) console[own](`petrel ${part}: ${message}`)
    else console[own](`petrel ${part}: ${message}`, info)
  })
}
