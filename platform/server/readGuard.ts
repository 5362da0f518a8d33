/**
 * Reads of what is on a disk: each failure has a code and names what could not be read, and is remembered until the same read comes
 * through again. What a node would write rests on what it reads, so nothing is written meanwhile.
 */
import type { ArchiveStore } from '../../src/archive/carStore.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'
import { CodecError } from '../../src/codec/errors.ts'
import { IpldError } from '../../src/ipld/errors.ts'
import { PlatformError } from './errors.ts'
import { WatchedArchive } from './watchedArchive.ts'

/** MDB_CORRUPTED, MDB_PAGE_NOTFOUND: a page of LMDB's tree is not what leads to it. @see lmdb.h */
const DAMAGED_NUMBERS: readonly unknown[] = [-30796, -30797]

function isDamage(cause: unknown): boolean {
  if (cause instanceof CodecError || cause instanceof IpldError) return true
  return cause instanceof Error && 'code' in cause && DAMAGED_NUMBERS.includes(cause.code)
}

/** Reads of one file or store. */
export class ReadGuard {
  readonly #what: string
  readonly #path: string
  /** The last read that failed. */
  #again: (() => unknown) | undefined
  #log: Logger | undefined
  #isTold = false

  /** @param what - that is read, for the errors: `the store` */
  constructor(what: string, path: string) {
    this.#what = what
    this.#path = path
  }

  /** Says from now on when reads begin to fail, and when they come through again. */
  tellTo(log: Logger): void {
    this.#log = log
  }

  /** @throws PlatformError STORE_FAILED: the disk gave an error; STORE_DAMAGED: it gave what makes no sense */
  read<T>(run: () => T): T {
    try {
      return run()
    } catch (cause) {
      throw this.failed(cause, run)
    }
  }

  /** The error of a read, which `again` tries again. */
  failed(cause: unknown, again: () => unknown): PlatformError {
    this.#again = again
    const error = cause instanceof PlatformError ? cause : this.#named(cause)
    if (!this.#isTold)
      this.#log?.error('a read failed: nothing is written until it comes through', { error: error.message })
    this.#isTold = true
    return error
  }

  #named(cause: unknown): PlatformError {
    const code = isDamage(cause) ? 'STORE_DAMAGED' : 'STORE_FAILED'
    const text = `Cannot read ${this.#what} ${this.#path}: ${errorMessage(cause)}`
    return new PlatformError(code, text, { path: this.#path }, { cause })
  }

  /** Tries the last read again that failed. @throws as {@link ReadGuard.read} */
  assertReadable(): void {
    const again = this.#again
    if (again === undefined) return
    this.#again = undefined
    this.read(again)
    if (this.#isTold) this.#log?.info('what could not be read can be read again', { path: this.#path })
    this.#isTold = false
  }
}

/** An archive whose reads are guarded. */
export class GuardedArchive extends WatchedArchive {
  readonly guard: ReadGuard

  constructor(path: string, store: ArchiveStore) {
    const guard = new ReadGuard('the snapshot', path)
    super(store, (cause, again) => {
      // It has yet to be read for the first time.
      if (cause instanceof IpldError && cause.code === 'NOT_INDEXED') return cause
      return guard.failed(cause, again)
    })
    this.guard = guard
  }
}
