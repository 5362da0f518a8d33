/** LMDB whose tables cannot be read when {@link file://./failingReads.ts} says so. */
import { open as openLmdb, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { maybeFail } from './failingReads.ts'

const READS = ['getBinaryFast', 'doesExist', 'getKeys'] as const

export function open(options: RootDatabaseOptionsWithPath): RootDatabase {
  const root = openLmdb(options)
  const openTable = root.openDB.bind(root)
  root.openDB = ((...args: Parameters<typeof openTable>) => {
    const table = openTable(...args)
    for (const name of READS) {
      const read = table[name].bind(table) as (...args: unknown[]) => unknown
      Object.assign(table, {
        [name]: (...args: unknown[]) => {
          maybeFail()
          return read(...args)
        },
      })
    }
    return table
  }) as typeof root.openDB
  return root
}
