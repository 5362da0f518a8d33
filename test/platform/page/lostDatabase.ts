/** Databases that a browser throws away. */
import type { Database } from '../../../platform/browser/database.ts'
import type { Logger } from '../../../src/base/ports.ts'

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
export const newName = (): string => `keys-${Date.now()}-${Math.random()}`

/** What a browser does to a database that looks damaged. */
export async function lose(database: Database): Promise<void> {
  database.close()
  await new Promise<void>((resolve, reject) => {
    const gone = indexedDB.deleteDatabase(database.name)
    gone.onsuccess = () => resolve()
    gone.onerror = () => reject(gone.error ?? new Error('not deleted'))
  })
}
