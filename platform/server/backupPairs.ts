/**
 * The form of backups, Lotus' own: a pair of a list of key and value pairs, of indefinite length, and the SHA-256 of that list.
 * @see lotus lib/backupds/datastore.go Backup; lib/backupds/read.go ReadBackup
 */
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { equalBytes } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { PlatformError } from './errors.ts'

/** Key and value. */
export type Pair = readonly [Uint8Array, Uint8Array]

const PAIR_HEAD = 0x82
const LIST_START = 0x9f
const LIST_END = 0xff

/**
 * Writes a backup, on disk when it returns; what was begun and failed is removed.
 * @param flags - of `open`: `w`, or `wx` for a file that must not exist
 * @throws PlatformError `BACKUP_REFUSED`; what the pairs throw
 */
export function writePairs(path: string, pairs: Iterable<Pair>, flags: 'w' | 'wx'): void {
  const file = openTarget(path, flags)
  try {
    const hash = createHash('sha256')
    const write = (data: Uint8Array): void => {
      hash.update(data)
      writeAll(file, data)
    }
    writeAll(file, Uint8Array.of(PAIR_HEAD))
    write(Uint8Array.of(LIST_START))
    for (const [key, value] of pairs) {
      const pair = new CborWriter()
      pair.array(2)
      pair.bytes(key)
      pair.bytes(value)
      write(pair.finish())
    }
    write(Uint8Array.of(LIST_END))
    const sum = new CborWriter()
    sum.bytes(hash.digest())
    writeAll(file, sum.finish())
    fsyncSync(file)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

/** A disk that is nearly full takes a part. */
function writeAll(file: number, data: Uint8Array): void {
  for (let at = 0; at < data.length; ) at += writeSync(file, data, at)
}

function openTarget(path: string, flags: 'w' | 'wx'): number {
  try {
    return openSync(path, flags, 0o600)
  } catch (cause) {
    throw new PlatformError('BACKUP_REFUSED', `open ${path}: ${(cause as Error).message}`, {}, { cause })
  }
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
