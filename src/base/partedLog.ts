/** A log whose parts have levels of their own, over whatever prints a line. */
import type { ErrorInfo } from './errors.ts'
import { LOG_EVENT_LEVELS, type LogEventLevel, type Logger, type LogParts } from './ports.ts'

/** Least level that is printed; `silent`: nothing is. */
export type LogThreshold = LogEventLevel | 'silent'

/** Prints an event that its part lets through. */
export type PrintEvent = (level: LogEventLevel, part: string, message: string, info: ErrorInfo | undefined) => void

/** The parts of a node that log. `node`: the log itself. */
export const LOG_PARTS = [
  'chain',
  'devnet',
  'f3',
  'gc',
  'index',
  'mempool',
  'node',
  'p2p',
  'rpc',
  'sync',
  'vm',
] as const
/** One of {@link LOG_PARTS}. */
export type LogPart = (typeof LOG_PARTS)[number]

function rank(level: LogThreshold): number {
  return level === 'silent' ? LOG_EVENT_LEVELS.length : LOG_EVENT_LEVELS.indexOf(level)
}

/** @param level - of every part at first */
export function partedLog(level: LogThreshold, print: PrintEvent): Logger & { readonly parts: LogParts } {
  let standard = rank(level)
  const thresholds = new Map<string, number>()
  const loggers = new Map<string, Logger>()
  const create = (name: string): Logger => {
    if (!thresholds.has(name)) thresholds.set(name, standard)
    const at =
      (own: LogEventLevel) =>
      (message: string, info?: ErrorInfo): void => {
        if (rank(own) >= (thresholds.get(name) ?? standard)) print(own, name, message, info)
      }
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  }
  const parts: LogParts = {
    of: (name) => {
      const known = loggers.get(name)
      if (known !== undefined) return known
      const made = create(name)
      loggers.set(name, made)
      return made
    },
    names: () => [...loggers.keys()].sort(),
    setLevel: (name, to) => {
      if (name !== '*') {
        thresholds.set(name, rank(to))
        return
      }
      standard = rank(to)
      for (const part of thresholds.keys()) thresholds.set(part, standard)
    },
  }
  return { ...parts.of('node'), parts }
}

/** The log of a part; the whole log where it has no parts. */
export function logOf(log: Logger, part: LogPart): Logger {
  return log.parts?.of(part) ?? log
}
