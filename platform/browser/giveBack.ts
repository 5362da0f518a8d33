/** What a database has lost, and its copy has. */
import type { Database, StoreName } from './database.ts'
import { BrowserError } from './errors.ts'
import { writeParts } from './writeParts.ts'

/**
 * Gives a database what it lacks, and marks that it has all of it. Of the copy nothing is written: it has all until it is here.
 * @throws BrowserError `STORE_FAILED`, `STORE_FULL`: something could not be given. Where nothing was to be given the mark is tried again at the
 * next start
 */
export async function giveBack(
  database: Database,
  store: StoreName,
  missing: ReadonlyMap<string, Uint8Array>,
  mark: string,
): Promise<void> {
  try {
    await database.turn()
    await writeParts(database, store, missing)
    await writeParts(database, 'meta', new Map([[mark, new Uint8Array(0)]]))
  } catch (error) {
    if (!(error instanceof BrowserError) || missing.size > 0) throw error
  }
}
