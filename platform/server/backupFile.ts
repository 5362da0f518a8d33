/**
 * A backup of what a node keeps besides the chain, in the form of Lotus' own: an array of key and value pairs, and the
 * SHA-256 of it.
 * @see lotus node/impl/backup.go; lib/backupds/datastore.go Backup
 */
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { KeyValueStore } from '../../src/base/ports.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { PlatformError } from './errors.ts'

/** Names the folder that backups may be written to. */
const BASE_VARIABLE = 'PETREL_BACKUP_BASE_PATH'
const PAIR_HEAD = 0x82
const LIST_START = 0x9f
const LIST_END = 0xff

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
  const file = openTarget(target)
  try {
    const hash = createHash('sha256')
    const write = (data: Uint8Array): void => {
      hash.update(data)
      writeSync(file, data)
    }
    writeSync(file, Uint8Array.of(PAIR_HEAD))
    write(Uint8Array.of(LIST_START))
    for (const key of store.keys()) {
      const value = store.get(key)
      if (value === undefined) continue
      const pair = new CborWriter()
      pair.array(2)
      pair.bytes(key)
      pair.bytes(value)
      write(pair.finish())
    }
    write(Uint8Array.of(LIST_END))
    const sum = new CborWriter()
    sum.bytes(hash.digest())
    writeSync(file, sum.finish())
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function openTarget(target: string): number {
  try {
    return openSync(target, 'w', 0o600)
  } catch (cause) {
    throw new PlatformError('BACKUP_REFUSED', `open ${target}: ${(cause as Error).message}`, {}, { cause })
  }
}
