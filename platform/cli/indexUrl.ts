/** The URL of `--index`. */
import { CliError } from './errors.ts'

/** @throws CliError `USAGE` for what is no URL of PostgreSQL */
export function indexUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text
  throw new CliError('USAGE', 'index: expected postgres://user:password@host:port/database')
}
