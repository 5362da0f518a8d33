/**
 * Room on the disk for what LMDB is about to commit, taken before it begins: lmdb 3.5.6 writes the text of a failed write behind the 100
 * bytes that it allocates for it (mdb.c, mdb_page_flush), and the process dies of that some failures later. A look at what is free is
 * not enough, since others may take it while a commit is under way; so the file itself is made long enough with zeros, behind what is in
 * use, where LMDB puts its next pages. (A file system that never writes in place, as btrfs, may refuse all the same.)
 */
import { closeSync, fstatSync, openSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../src/base/errors.ts'
import { PlatformError, systemCode } from './errors.ts'
import { DATA_FILE } from './lmdbFile.ts'
import type { WriteSize } from './lmdbKeyValues.ts'
import { metasOf } from './lmdbPages.ts'

/** What others may take at any time, bytes: keys and certificates are not in the store. */
const RESERVE_BYTES = 8 * 1024 * 1024
/** Pages of the tree that one write may copy, bytes. */
const PAGES_PER_WRITE = 16 * 1024
/** Written at once. */
const STEP_BYTES = 1024 * 1024
/** The file grows to multiples of this: of its pages, and not for each commit. */
const UNIT_BYTES = 128 * 1024
/** The file system, a quota or a limit of the process. */
const FULL: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG']

const ZEROS = new Uint8Array(STEP_BYTES)

/** Bytes that are free for this process where the store is. */
export function fileSystemFreeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** What a commit takes at most, and by how much the file is too short for it, bytes. */
interface Sizes {
  readonly most: number
  readonly missing: number
}

/** Of one environment, which may have been opened yet or not. */
export class LmdbRoom {
  readonly #path: string
  readonly #freeBytes: () => number
  #file: number | undefined
  /** What commits under way may take, bytes. */
  #underWay = 0

  constructor(path: string, freeBytes: () => number) {
    this.#path = path
    this.#freeBytes = freeBytes
  }

  /** From here on the file is LMDB's, and may be made longer. */
  opened(): void {
    // What is appended lands behind all that LMDB writes meanwhile.
    this.#file = openSync(join(this.#path, DATA_FILE), 'a+')
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** @throws PlatformError STORE_FULL */
  assertRoom(size: WriteSize): void {
    this.#assertFree(this.#sizes(size))
  }

  #assertFree({ most, missing }: Sizes): void {
    const free = this.#freeBytes()
    const needed = RESERVE_BYTES + (this.#file === undefined ? most : missing)
    if (free < needed) this.#full(free, needed)
  }

  /**
   * Takes the room.
   * @returns gives it back, once
   * @throws PlatformError STORE_FULL, STORE_FAILED
   */
  take(size: WriteSize): () => void {
    const sizes = this.#sizes(size)
    this.#assertFree(sizes)
    const { most, missing } = sizes
    if (missing > 0) this.#grow(missing)
    this.#underWay += most
    return () => {
      this.#underWay -= most
    }
  }

  #sizes({ writes, bytes }: WriteSize): Sizes {
    const [meta] = this.#file === undefined ? [] : metasOf(this.#file)
    const used = meta === undefined ? this.#fileBytes() : (meta.lastPage + 1) * meta.pageBytes
    // No more pages are copied than there are: a small store needs less.
    const most = 2 * bytes + Math.min(writes * PAGES_PER_WRITE, 2 * used)
    return { most, missing: Math.max(0, used + this.#underWay + most - this.#fileBytes()) }
  }

  #fileBytes(): number {
    if (this.#file !== undefined) return fstatSync(this.#file).size
    return statSync(join(this.#path, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0
  }

  #grow(missing: number): void {
    const size = this.#fileBytes()
    const bytes = Math.ceil((size + missing) / UNIT_BYTES) * UNIT_BYTES - size
    try {
      for (let rest = bytes; rest > 0; ) {
        rest -= writeSync(this.#file as number, ZEROS, 0, Math.min(rest, STEP_BYTES))
      }
    } catch (cause) {
      if (FULL.includes(systemCode(cause))) this.#full(this.#freeBytes(), bytes, cause)
      const text = `Cannot write to the store: ${errorMessage(cause)}`
      throw new PlatformError('STORE_FAILED', text, { path: this.#path }, { cause })
    }
  }

  #full(free: number, needed: number, cause?: unknown): never {
    const text = `Cannot write to the store: the disk is full (${free} bytes free at ${this.#path}, ${needed} needed)`
    throw new PlatformError('STORE_FULL', text, { path: this.#path, free, needed }, { cause })
  }
}
