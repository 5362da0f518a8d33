/** Colours, on a terminal alone. @see https://no-color.org */
import type { ProgramIo } from '../server/programIo.ts'

const CODES = { red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** The text in a colour, where standard output is a terminal and `NO_COLOR` is not set. */
export function paint({ isTty, env }: ProgramIo, colour: keyof typeof CODES, text: string): string {
  const wanted = isTty && (env.NO_COLOR ?? '') === ''
  return wanted ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}
