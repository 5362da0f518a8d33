/**
 * The form of backups, Lotus' own: a pair of a list of key and value pairs, of indefinite length, and the SHA-256 of that list.
 * @see lotus lib/backupds/datastore.go Backup; lib/backupds/read.go ReadBackup
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { equalBytes } from '../../src/base/bytes.ts'
import { errorMessage, PetrelError } from '../../src/base/errors.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { PlatformError } from './errors.ts'
import { openOwnPartial } from './scratchFiles.ts'

/** Key and value. */
export type Pair = readonly [Uint8Array, Uint8Array]

/** Pairs that are read and written before others run: some milliseconds. */
export const SLICE = 128

/** Keys are among them. */
const MODE = 0o600
const PAIR_HEAD = 0x82
const LIST_START = 0x9f
const LIST_END = 0xff

/**
 * Writes a backup, on disk when it resolves; what was begun and failed is removed, and what had the name before stays. Others run between
 * two slices.
 * @param slices - all pairs; each slice is asked for when the one before is written
 * @param replaces - whether the file may exist
 * @throws PlatformError `BACKUP_REFUSED`; what the slices throw
 */
export async function writePairs(path: string, slices: Iterable<readonly Pair[]>, replaces: boolean): Promise<void> {
  if (!replaces && existsSync(path))
    throw new PlatformError('BACKUP_REFUSED', `open ${path}: EEXIST: it is there already`)
  const file = refusing(path, () => openOwnPartial(path, MODE))
  const hash = createHash('sha256')
  const write = (data: Uint8Array): void => {
    hash.update(data)
    refusing(path, () => file.write(data))
  }
  try {
    refusing(path, () => file.write(Uint8Array.of(PAIR_HEAD)))
    write(Uint8Array.of(LIST_START))
    for (const slice of slices) {
      const pairs = new CborWriter()
      for (const [key, value] of slice) {
        pairs.array(2)
        pairs.bytes(key)
        pairs.bytes(value)
      }
      write(pairs.finish())
      file.touch()
      await setImmediate()
    }
    write(Uint8Array.of(LIST_END))
    const sum = new CborWriter()
    sum.bytes(hash.digest())
    refusing(path, () => {
      file.write(sum.finish())
      file.finish()
    })
  } finally {
    file.abandon()
  }
}

function refusing<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw new PlatformError('BACKUP_REFUSED', `Cannot write the backup ${path}: ${errorMessage(cause)}`, {}, { cause })
  }
}

/** In slices of {@link SLICE}. */
export function* sliced(pairs: readonly Pair[]): Iterable<readonly Pair[]> {
  for (let at = 0; at < pairs.length; at += SLICE) yield pairs.slice(at, at + SLICE)
}

/**
 * The pairs of a backup, as views of `data`, once all of it is known to be what was written.
 * @throws PlatformError `BACKUP_REFUSED`
 */
export function readPairs(data: Uint8Array, path: string): Pair[] {
  const refused = (reason: string, cause?: unknown): PlatformError =>
    new PlatformError('BACKUP_REFUSED', `Cannot read the backup ${path}: ${reason}`, { path }, { cause })
  if (data[0] !== PAIR_HEAD || data[1] !== LIST_START) throw refused('it is none')
  const reader = new CborReader(data, 2)
  const pairs: Pair[] = []
  let sum: Uint8Array
  let end: number
  try {
    while (data[reader.offset] !== LIST_END) {
      if (reader.readArray() !== 2) throw refused('it is damaged')
      pairs.push([reader.readBytes(), reader.readBytes()])
    }
    reader.offset++
    end = reader.offset
    sum = reader.readBytes()
  } catch (cause) {
    if (cause instanceof PetrelError) throw refused('it is cut off or damaged', cause)
    throw cause
  }
  const hashed = createHash('sha256').update(data.subarray(1, end)).digest()
  if (reader.offset !== data.length || !equalBytes(sum, hashed)) throw refused('it is damaged: its sum is another')
  return pairs
}
