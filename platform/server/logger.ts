/** The log: one line per event, on standard error or wherever `write` puts it. */

import { join } from 'node:path'
import { type ErrorInfo, errorMessage } from '../../src/base/errors.ts'
import { LOG_PARTS, partedLog } from '../../src/base/partedLog.ts'
import type { Logger } from '../../src/base/ports.ts'
import { PlatformError } from './errors.ts'
import type { LogSettings } from './options.ts'
import { RotatingFile } from './rotatingFile.ts'

/** Levels from the most talkative to none at all. */
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** How to log. */
export interface LoggerOptions {
  /** Events below it are dropped. */
  readonly level: LogLevel
  /** `text` for people, `json` for log collectors: one object per line with `time`, `level`, `part`, `message`, `info`. */
  readonly format: 'text' | 'json'
  /** Takes one line, line feed included. Default: standard error. */
  readonly write?: (line: string) => void
}

/** A log that is told later how to print. */
export interface OpenLog {
  readonly logger: Logger
  /** @param folder - of the files @throws PlatformError `CONFIG_INVALID` */
  configure(settings: LogSettings, folder: string): void
}

/** Prints `info` and above as text until it is told otherwise. */
export function openLog(): OpenLog {
  let file: RotatingFile | undefined
  const options = {
    level: 'info' as const,
    format: 'text' as LogSettings['format'],
    write: (text: string): void => {
      process.stderr.write(text)
      writeToFile(text)
    },
  }
  const logger = createLogger(options)
  let isFailing = false
  /** Whoever logs is not to fail for want of room: that is said once, and once when it is over. */
  const writeToFile = (text: string): void => {
    try {
      if (file === undefined) return
      file.write(text)
    } catch (error) {
      if (isFailing) return
      isFailing = true
      logger.warn('lines are missing in the log file', { reason: errorMessage(error) })
      return
    }
    if (!isFailing) return
    isFailing = false
    logger.info('the log file is written again')
  }
  return {
    logger,
    configure: ({ levels, format, toFile }, folder) => {
      const parsed = parseLevels(levels)
      options.format = format
      logger.parts?.setLevel('*', 'info')
      for (const [part, level] of parsed) logger.parts?.setLevel(part, level)
      if (toFile) file ??= new RotatingFile(join(folder, 'petrel.log'))
      else file = undefined
    },
  }
}

/**
 * Levels by part; `*`: all.
 * @param text - `info`, `warn,p2p=debug`
 * @throws PlatformError `CONFIG_INVALID`
 */
export function parseLevels(text: string): [part: string, level: LogLevel][] {
  return text.split(',').map((setting) => {
    const [first = '', second] = setting.trim().split('=')
    const level = LOG_LEVELS.find((known) => known === (second ?? first))
    if (second !== undefined && level !== undefined && !(LOG_PARTS as readonly string[]).includes(first)) {
      const message = `Cannot use the log levels "${text}": no part is called ${first}; there are ${LOG_PARTS.join(', ')}`
      throw new PlatformError('CONFIG_INVALID', message)
    }
    if (level !== undefined && first !== '') return [second === undefined ? '*' : first, level]
    const message = `Cannot use the log levels "${text}": expected ${LOG_LEVELS.join(', ')}, or part=level, with commas between`
    throw new PlatformError('CONFIG_INVALID', message)
  })
}

/** JSON of plain data; big integers as decimal text, byte strings by their length. */
function plainJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === 'bigint') return item.toString()
    if (item instanceof Uint8Array) return `<${item.length} bytes>`
    return item instanceof Error ? item.message : item
  })
}

/** Text that needs no quotes: what JSON would not change, without a space or an equals sign. */
const PLAIN = /^[!#-<>-[\]-~]+$/

function detail(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return value
  if (typeof value === 'bigint') return value.toString()
  const json = plainJson(value)
  return /^"[^"\\\s=]+"$/.test(json) ? json.slice(1, -1) : json
}

/** ` height=7 reason="two words"`. */
function details(info: ErrorInfo): string {
  let text = ''
  for (const name in info) {
    const value = info[name]
    if (value !== undefined) text += ` ${name}=${detail(value)}`
  }
  return text
}

/** Creates a log. Each line names the part of the node that it comes from. */
export function createLogger(options: LoggerOptions): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  return partedLog(options.level, (level, part, message, info) => {
    const time = new Date().toISOString()
    if (options.format === 'json') {
      write(`${plainJson({ time, level, part, message, ...(info === undefined ? {} : { info }) })}\n`)
      return
    }
    write(
      `${time} ${level.toUpperCase().padEnd(5)} ${part.padEnd(7)} ${message}${info === undefined ? '' : details(info)}\n`,
    )
  })
}
