import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyValueStore } from '../../src/base/ports.ts'
import type { NodeShim } from '../../src/node/nodeShim.ts'
import { writeBackup } from './backupFile.ts'
import type { Home } from './home.ts'

const MS_PER_SEC = 1000

/** Files that a node writes in Node and Deno: exports in its home, backups where the operator allows them. */
export function nodeFiles(home: Home, meta: KeyValueStore): NonNullable<NodeShim['files']> {
  return {
    backup: async (path) => {
      // What was written before is in the backup: also what another thread has not seen yet.
      await meta.flush()
      await writeBackup(path, meta, process.env)
    },
    createFile: (name) => {
      const seconds = Math.floor(Date.now() / MS_PER_SEC)
      const file = openSync(join(home.path, `${name}_${seconds}.car`), 'w')
      return { write: (data) => void writeSync(file, data), close: () => closeSync(file) }
    },
  }
}
