/**
 * LMDB that marks its commits, for a process that is started with `--import` of this file: the file that `COMMIT_MARKS` names has two
 * bytes, how many commits of the chain its own thread is in, and how many LMDB's thread was given and has not made yet. What was written
 * to a file is there after a kill.
 */
import { openSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { open as openLmdb, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { openLmdbBy, withTables } from '../support/lmdbDoor.ts'

const counts = Uint8Array.of(0, 0)
// Threads that only read have nothing to mark.
const file = isMainThread ? openSync(process.env.COMMIT_MARKS ?? '', 'w') : undefined

/** @param which - 0: of this thread, 1: of LMDB's */
function mark(which: number, change: number): void {
  counts[which] = (counts[which] as number) + change
  if (file !== undefined) writeSync(file, counts, 0, counts.length, 0)
}

export function open(options: RootDatabaseOptionsWithPath): RootDatabase {
  const root = openLmdb(options)
  if (basename(options.path ?? '') !== 'chain') return root
  const transaction = root.transactionSync.bind(root)
  root.transactionSync = (write) => {
    let isCommitting = false
    try {
      return transaction(() => {
        const result = write()
        // All is written to pages in memory; what is left is the commit.
        isCommitting = true
        mark(0, 1)
        return result
      })
    } finally {
      if (isCommitting) mark(0, -1)
    }
  }
  return withTables(root, (table) => {
    const batch = table.batch.bind(table)
    table.batch = (write) => {
      mark(1, 1)
      const made = batch(write)
      const over = (): void => mark(1, -1)
      made.then(over, over)
      return made
    }
  })
}

openLmdbBy(import.meta.url)
