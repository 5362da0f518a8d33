/**
 * `CreateBackup`: all that a node's store has besides blocks, in Lotus' form.
 * @see lotus node/impl/backup.go
 */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { KeyValueStore } from '../../src/base/ports.ts'
import { type Pair, writePairs } from './backupPairs.ts'
import { PlatformError } from './errors.ts'

/** Names the folder that backups may be written to. */
const BASE_VARIABLE = 'PETREL_BACKUP_BASE_PATH'

function expand(path: string): string {
  return resolve(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path)
}

/**
 * @param path - absolute, or from the process' folder; must lie in the folder that the environment names
 * @throws PlatformError `BACKUP_REFUSED`
 */
export function writeBackup(path: string, store: KeyValueStore, environment: NodeJS.ProcessEnv): void {
  const base = environment[BASE_VARIABLE]
  if (base === undefined) throw new PlatformError('BACKUP_REFUSED', `${BASE_VARIABLE} env var not set`)
  const folder = expand(base)
  const target = expand(path)
  if (target !== folder && !target.startsWith(`${folder}/`)) {
    throw new PlatformError('BACKUP_REFUSED', `backup file name (${target}) must be inside base path (${folder})`)
  }
  writePairs(target, pairsOf(store), 'w')
}

function* pairsOf(store: KeyValueStore): Iterable<Pair> {
  for (const key of store.keys()) {
    const value = store.get(key)
    if (value !== undefined) yield [key, value]
  }
}
