/** Whether two files have the same bytes. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** SHA-256 of a file, hexadecimal. */
export function fileDigest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
