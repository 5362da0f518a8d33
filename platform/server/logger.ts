/** The log: one line per event, on standard error or wherever `write` puts it. */
import type { ErrorInfo } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'

/** Levels from the most talkative to none at all. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** How to log. */
export interface LoggerOptions {
  /** Events below it are dropped. */
  readonly level: LogLevel
  /** `text` for people, `json` for log collectors: one object per line with `time`, `level`, `message`, `info`. */
  readonly format: 'text' | 'json'
  /** Takes one line, line feed included. Default: standard error. */
  readonly write?: (line: string) => void
}

/** JSON of plain data; big integers as decimal text, byte strings by their length. */
function plainJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === 'bigint') return item.toString()
    if (item instanceof Uint8Array) return `<${item.length} bytes>`
    return item instanceof Error ? item.message : item
  })
}

/** Creates a log. */
export function createLogger(options: LoggerOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const least = LOG_LEVELS.indexOf(options.level)
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, info?: ErrorInfo): void => {
      if (LOG_LEVELS.indexOf(level) < least) return
      const time = new Date().toISOString()
      if (options.format === 'json') {
        write(`${plainJson({ time, level, message, ...(info === undefined ? {} : { info }) })}\n`)
        return
      }
      const details = info === undefined ? '' : ` ${plainJson(info)}`
      write(`${time} ${level.toUpperCase().padEnd(5)} ${message}${details}\n`)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
