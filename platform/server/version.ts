/** The version of this program. */
import { readFileSync } from 'node:fs'

/** Set by the build (scripts/build.ts); absent in the sources. */
declare const PETREL_VERSION: string | undefined

/** From package.json. */
export function petrelVersion(): string {
  if (typeof PETREL_VERSION === 'string') return PETREL_VERSION
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
