/**
 * `CreateBackup`: all that a node's store has besides blocks, in Lotus' form.
 * @see lotus node/impl/backup.go
 */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { latin1 } from '../../src/base/bytes.ts'
import type { KeyValueStore } from '../../src/base/ports.ts'
import { type Pair, SLICE, sliced, writePairs } from './backupPairs.ts'
import { PlatformError } from './errors.ts'

/** Names the folder that backups may be written to. */
const BASE_VARIABLE = 'PETREL_BACKUP_BASE_PATH'

function expand(path: string): string {
  return resolve(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path)
}

/**
 * Resolves when the file is whole. All of the store is of one moment, but for the certificates of finality, which are only ever added.
 * @param path - absolute, or from the process' folder; must lie in the folder that the environment names
 * @throws PlatformError `BACKUP_REFUSED`; what the store throws
 */
export async function writeBackup(path: string, store: KeyValueStore, environment: NodeJS.ProcessEnv): Promise<void> {
  const base = environment[BASE_VARIABLE]
  if (base === undefined) throw new PlatformError('BACKUP_REFUSED', `${BASE_VARIABLE} env var not set`)
  const folder = expand(base)
  const target = expand(path)
  if (!target.startsWith(`${folder}/`)) {
    throw new PlatformError('BACKUP_REFUSED', `backup file name (${target}) must be inside base path (${folder})`)
  }
  await writePairs(target, slicesOf(store), true)
}

/** `f3/<network>/cert/<instance>`: most of a store is these. */
const CERTIFICATES = /^f3\/[^/]+\/cert\//
const LAST_BYTE = 0xff

function pairOf(store: KeyValueStore, key: Uint8Array): Pair[] {
  const value = store.get(key)
  return value === undefined ? [] : [[key, value]]
}

/**
 * All keys but those of certificates, which it does not even walk through.
 * @param skipped - takes what those start with
 */
function* keysButCertificates(
  store: KeyValueStore,
  skipped: Uint8Array[],
  prefix = new Uint8Array(0),
): Iterable<Uint8Array> {
  for (const key of store.keys(prefix)) {
    const length = CERTIFICATES.exec(latin1(key))?.[0].length
    if (length === undefined) {
      yield key
      continue
    }
    const start = key.subarray(0, length)
    skipped.push(start)
    for (let at = length - 1; at >= prefix.length; at--) {
      for (let byte = (start[at] as number) + 1; byte <= LAST_BYTE; byte++) {
        yield* keysButCertificates(store, skipped, Uint8Array.of(...start.subarray(0, at), byte))
      }
    }
    return
  }
}

function* slicesOf(store: KeyValueStore): Iterable<readonly Pair[]> {
  const skipped: Uint8Array[] = []
  yield* sliced([...keysButCertificates(store, skipped)].flatMap((key) => pairOf(store, key)))
  // After the number of the newest one, so that it names one that is here.
  for (const start of skipped) {
    let slice: Pair[] = []
    for (const key of store.keys(start)) {
      if (slice.length === SLICE) {
        yield slice
        slice = []
      }
      // Before the walk goes on: a store that was closed meanwhile says so.
      slice.push(...pairOf(store, key))
    }
    yield slice
  }
}
