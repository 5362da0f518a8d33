/** LMDB whose tables cannot be read, and whose commits fail, when {@link file://./failingReads.ts} says so. */
import { open as openLmdb, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { maybeFail, maybeFailCommit } from './failingReads.ts'
import { type Table, withTables } from './lmdbDoor.ts'

const READS = ['getBinaryFast', 'doesExist', 'getKeys'] as const

function failReads(table: Table): void {
  for (const name of READS) {
    const read = table[name].bind(table) as (...args: unknown[]) => unknown
    Object.assign(table, {
      [name]: (...args: unknown[]) => {
        maybeFail()
        return read(...args)
      },
    })
  }
}

/** As LMDB's own thread says it: its error, and by a promise beside it the reason. */
function failBatches(table: Table): void {
  const batch = table.batch.bind(table)
  table.batch = (write) => {
    try {
      maybeFailCommit()
    } catch (reason) {
      const commitError = Promise.reject(reason as Error)
      commitError.catch(() => undefined)
      return Promise.reject(Object.assign(new Error('Commit failed (see commitError for details)'), { commitError }))
    }
    return batch(write)
  }
}

export function open(options: RootDatabaseOptionsWithPath): RootDatabase {
  const root = openLmdb(options)
  const transaction = root.transactionSync.bind(root)
  // What is thrown behind the last write ends the transaction, as a failed commit does.
  root.transactionSync = (write) =>
    transaction(() => {
      const result = write()
      maybeFailCommit()
      return result
    })
  return withTables(root, (table) => {
    failReads(table)
    failBatches(table)
  })
}
