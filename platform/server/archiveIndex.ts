/**
 * What Petrel makes of an archive that brings no index of its own, kept beside it or in the home:
 * `<file>.petrel-index` for a plain CAR; `<file>.petrel.forest.car.zst` for one compressed in frames too long to be
 * read in place. Each carries a stamp of the file that it was made from, and is not used for any other.
 */

import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'
import { crc32 } from 'node:zlib'
import { readForestNote } from '../../src/archive/forestWriter.ts'
import { HashIndex } from '../../src/archive/hashIndex.ts'
import { summedSource } from '../../src/archive/pageSums.ts'
import { concatBytes, equalBytes, toHex, utf8 } from '../../src/base/bytes.ts'
import { PetrelError, unlessThrown } from '../../src/base/errors.ts'
import { whenAborted } from '../../src/base/waiting.ts'
import { type ByteSource, readExactly, sliceSource } from '../../src/codec/byteSource.ts'
import { blake2b256 } from '../../src/crypto/blake2b.ts'
import { PlatformError } from './errors.ts'
import { type FileSource, openFileSource } from './fileSource.ts'

/** Bytes at the start and at the end of the file that are part of its stamp. */
const STAMPED_BYTES = 4096
const STAMP_BYTES = 56
const MAGIC = utf8('PETREL-1')
const NAME_DIGITS = 16

/** What tells a file from others, and from what it was before: size, time of its last change, hash of both ends. */
export function stampOf(path: string, source: ByteSource): Uint8Array {
  const out = new Uint8Array(STAMP_BYTES)
  const view = new DataView(out.buffer)
  out.set(MAGIC)
  view.setFloat64(8, source.size, true)
  view.setFloat64(16, statSync(path).mtimeMs, true)
  const end = Math.max(0, source.size - STAMPED_BYTES)
  out.set(blake2b256(concatBytes(source.read(0, STAMPED_BYTES), source.read(end, STAMPED_BYTES))), 24)
  return out
}

/** Where a file that belongs to `path` may be: beside it, else in the home. */
function places(path: string, home: string, suffix: string): readonly [string, string] {
  const name = basename(path)
  const digits = toHex(blake2b256(utf8(resolve(path)))).slice(0, NAME_DIGITS)
  return [`${path}${suffix}`, join(home, `${name}-${digits}${suffix}`)]
}

function canWrite(folder: string): boolean {
  return unlessThrown(() => accessSync(folder, constants.W_OK) ?? true, Error) ?? false
}

/** Names of an archive's index and of its readable form. */
export interface ArchivePlaces {
  readonly index: readonly [string, string]
  readonly readable: readonly [string, string]
}

/** @param home - folder for what cannot be written beside the archive */
export function archivePlaces(path: string, home: string): ArchivePlaces {
  return { index: places(path, home, '.petrel-index'), readable: places(path, home, '.petrel.forest.car.zst') }
}

/** Names of the note of how much of an archive was checked. */
export function verifiedPlaces(path: string, home: string): readonly [string, string] {
  return places(path, home, '.petrel-verified')
}

/** Of two places the one that can be written to; the home's folder is created. */
export function placeFor([beside, inHome]: readonly [string, string]): string {
  if (canWrite(dirname(beside))) return beside
  mkdirSync(dirname(inHome), { recursive: true })
  return inHome
}

/** Opens what was made from a file with this stamp; undefined where there is nothing such. */
function openMade(
  paths: readonly [string, string],
  stamp: Uint8Array,
  stampIn: (source: ByteSource, path: string) => Uint8Array | undefined,
): FileSource | undefined {
  for (const path of paths) {
    if (!existsSync(path)) continue
    let source: FileSource | undefined
    try {
      source = openFileSource(path)
      const found = stampIn(source, path)
      if (found !== undefined && equalBytes(found, stamp)) return source
    } catch (error) {
      if (!(error instanceof PetrelError)) throw error
      // Damaged, or not to be read: it is made again.
    }
    source?.close()
  }
  return undefined
}

/**
 * The index of a plain CAR: the table and the sums of its pages, then the stamp. Undefined where there is none that is as it was written.
 * A page that turns out damaged when it is read throws PlatformError `STORE_DAMAGED`, and the file is removed: {@link tendIndex} makes it
 * again, or whoever opens the archive next.
 */
export function openIndex(
  paths: readonly [string, string],
  stamp: Uint8Array,
): { index: HashIndex; file: FileSource } | undefined {
  let index: HashIndex | undefined
  const file = openMade(paths, stamp, (source, path) => {
    if (source.size < STAMP_BYTES) return undefined
    const end = source.size - STAMP_BYTES
    const table = summedSource(sliceSource(source, 0, end), crc32, damagedIndex(path))
    if (table === undefined) return undefined
    index = new HashIndex(table)
    return readExactly(source, end, STAMP_BYTES)
  })
  return file === undefined || index === undefined ? undefined : { index, file }
}

/** Removes a damaged index, unless another has taken its place, and says so. */
function damagedIndex(path: string): (page: number) => never {
  const { ino } = statSync(path)
  return (page) => {
    if (unlessThrown(() => statSync(path).ino, Error) === ino) rmSync(path, { force: true })
    const text = `Cannot use the index ${path}: page ${page} is not what was written; it is made again`
    throw new PlatformError('STORE_DAMAGED', text, { path, page })
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

/** Says to whoever tends the archive that an index is wanted: an empty one. */
export function wantIndex(paths: readonly [string, string]): void {
  if (paths.some((path) => existsSync(path))) return
  // Where nothing can be written there is no index either; the error of the read says what is damaged.
  unlessThrown(() => writeFileSync(placeFor(paths), '', { flag: 'wx' }), Error)
}

/** Whether {@link wantIndex} was called, and none is there. */
export function isIndexWanted(paths: readonly [string, string]): boolean {
  return paths.some((path) => sizeOf(path) === 0)
}

/** Takes the wish back. */
export function removeWish(paths: readonly [string, string]): void {
  for (const path of paths) if (sizeOf(path) === 0) rmSync(path, { force: true })
}

/** Removes what was made of an archive: it is damaged. Whoever has it open reads on. */
export function removeMade(paths: readonly [string, string]): void {
  for (const path of paths) unlessThrown(() => rmSync(path, { force: true }), Error)
}

/** Whether an index that was there is not any more: any thread that finds it damaged removes it. */
export function isIndexGone(paths: readonly [string, string]): boolean {
  return !paths.some((path) => existsSync(path))
}

/** How often it is looked whether the index is still there, ms. */
const INDEX_LOOK_MS = 1000

/**
 * Makes the index when it is wanted, and again when it is gone.
 * @param isWanted - for the first time
 * @param make - resolves when the new one answers; after a failure nothing is tried any more
 */
export function tendIndex(
  paths: readonly [string, string],
  isWanted: (paths: readonly [string, string]) => boolean,
  signal: AbortSignal,
  make: () => Promise<void>,
): void {
  const look = setInterval(() => {
    if (!isWanted(paths)) return
    clearInterval(look)
    make().then(
      () => tendIndex(paths, isIndexGone, signal, make),
      () => undefined,
    )
  }, INDEX_LOOK_MS)
  look.unref()
  whenAborted(signal, () => clearInterval(look))
}

/** The form of a compressed CAR that can be read in place. */
export function openReadable(paths: readonly [string, string], stamp: Uint8Array): FileSource | undefined {
  return openMade(paths, stamp, readForestNote)
}
