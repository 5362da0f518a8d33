/** The URL of `--index`. */
import { isServersUrl } from '../server/index/serverUrls.ts'
import { CliError } from './errors.ts'

/** @throws CliError `USAGE` for what is no URL of PostgreSQL */
export function indexUrl(text: string): string {
  if (isServersUrl(text)) return text
  throw new CliError('USAGE', 'index: expected postgres://user:password@host:port,host:port/database')
}
