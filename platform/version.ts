/** The version of this program. */
import { readFileSync } from 'node:fs'

/** From package.json, which lies one folder up both here and in the built package's `dist/`. */
export function petrelVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
