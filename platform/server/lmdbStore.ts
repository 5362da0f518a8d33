/**
 * The chain on disk: one LMDB environment with a table of blocks and a table of everything else.
 *
 * Blocks are gathered in memory and committed together: with the next write to the key-value store (in the same
 * transaction, so that a head on disk never names a block that is not), by LMDB's own thread when there are many, or by `flush`.
 *
 * LMDB never meets a full disk: lmdb 3.5.6 writes the text of such a failure behind the 100 bytes that it allocates for it
 * (mdb.c, mdb_page_flush), and the process dies of that some failures later. So each commit takes its room first (lmdbRoom.ts), and
 * when the disk fails all the same nothing is written any more.
 */
import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { latin1 } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { KeyValueStore } from '../../src/base/ports.ts'
import type { CollectableBlocks } from '../../src/ipld/collectable.ts'
import { PlatformError, systemCode } from './errors.ts'
import { type BlocksOptions, LmdbBlocks } from './lmdbBlocks.ts'
import { assertSound, DATA_FILE } from './lmdbFile.ts'
import { upgradeStore } from './lmdbFormat.ts'
import { copyOf, LmdbKeyValues, type Table, type WriteSize } from './lmdbKeyValues.ts'
import { fileSystemFreeBytes, LmdbRoom } from './lmdbRoom.ts'
import { ReadGuard } from './readGuard.ts'

/** Blocks; everything else; the same of format 0; the format's number, and fences of commits. */
const TABLES = ['blocks', 'values', 'meta', 'format']

/** What LMDB itself calls binary: keys and values as they are. */
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const

/** How to open a {@link LmdbEnvironment}. */
export interface LmdbOptions extends BlocksOptions {
  /** Folder, created when absent. */
  readonly path: string
  /** Whether nothing will be written, so that neither room nor leave to write is needed. Default: no. */
  readonly readsOnly?: boolean
  /** Reads of what lies below the store: while they fail nothing is written. */
  readonly below?: ReadGuard | undefined
  /** Bytes that are free for this process where the store is. Default: what the file system says. */
  readonly freeBytes?: () => number
  /** Opens LMDB itself. Default: as lmdb does. */
  readonly open?: typeof open
}

function hasNumber(cause: unknown): boolean {
  return typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'number'
}

/**
 * Why LMDB's own thread could not commit. lmdb says so by a promise beside its error, which rejects in the same turn; unheard it would
 * end the process.
 */
async function commitErrorOf(cause: unknown): Promise<unknown> {
  const known = typeof cause === 'object' && cause !== null && 'commitError' in cause ? cause.commitError : undefined
  if (!(known instanceof Promise)) return cause
  const reason = known.then(
    () => cause,
    (error: unknown) => error,
  )
  return await Promise.race([reason, new Promise((resolve) => setTimeout(() => resolve(cause), 0))])
}

/**
 * What lmdb 3.5.6 says of a commit that it gives up although nothing is wrong: it looks at the size of a record of free pages before it
 * looks whether it has found one, in a variable that nobody has set (mdb.c, mdb_freelist_save). Nothing of that commit is written, and the
 * next one reads the free pages anew, so that it finds what it reserves.
 */
const FALSE_ALARM = 'reserved freelist had a data entry with zero-size'
/** Of a commit, in all: more than one was never needed. */
const COMMIT_ATTEMPTS = 3

function isFalseAlarm(cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes(FALSE_ALARM)
}

const NO_WRITES: WriteSize = { writes: 0, bytes: 0 }

/**
 * A file system that the kernel has made read-only, as it does after errors of a disk: LMDB would notice in the midst of a commit.
 * @throws PlatformError STORE_READ_ONLY
 */
function assertNotReadOnly(path: string): void {
  try {
    accessSync(path, constants.W_OK)
  } catch (cause) {
    const reason = systemCode(cause)
    // Deno asks for a permission of its own (`--allow-sys=uid`) before it tells: then LMDB will say.
    if (reason === '') return
    const what = reason === 'EROFS' ? 'its file system is read-only' : `it may not be written to (${reason})`
    const text = `Cannot write to the store: ${what} (${path})`
    throw new PlatformError('STORE_READ_ONLY', text, { path, reason }, { cause })
  }
}

/** An open LMDB environment. */
export class LmdbEnvironment {
  /** Blocks by CID. */
  readonly blocks: CollectableBlocks
  /** Head, index, pool, settings. */
  readonly meta: KeyValueStore
  readonly #root: RootDatabase
  readonly #tables: readonly Table[]
  readonly #blocks: LmdbBlocks
  readonly #path: string
  readonly #room: LmdbRoom
  #closed = false
  /** Commits of LMDB's own thread under way. */
  readonly #aside = new Set<Promise<unknown>>()
  /** Why nothing is written any more. */
  #broken: PlatformError | undefined
  /** Of this store. */
  readonly reads: ReadGuard
  readonly #below: ReadGuard | undefined

  /** @throws PlatformError STORE_FAILED, STORE_FULL, STORE_READ_ONLY, STORE_DAMAGED */
  constructor(options: LmdbOptions) {
    this.#path = options.path
    this.reads = new ReadGuard('the store', options.path)
    this.#below = options.below
    this.#room = new LmdbRoom(options.path, options.freeBytes ?? (() => fileSystemFreeBytes(options.path)))
    try {
      mkdirSync(options.path, { recursive: true })
      if (options.readsOnly !== true) {
        this.#assertWritable()
        this.#room.assertRoom(NO_WRITES)
      }
      assertSound(join(options.path, DATA_FILE), options.readsOnly !== true)
      // Its batches of a turn of the loop have a promise of their own that nobody is given: a failed commit would end the process.
      this.#root = (options.open ?? open)({
        path: options.path,
        maxDbs: TABLES.length,
        overlappingSync: false,
        eventTurnBatching: false,
        ...BINARY,
      })
      if (options.readsOnly !== true) this.#room.opened()
      this.#assertTables()
      const blocks = this.#root.openDB({ name: 'blocks', ...BINARY })
      this.#blocks = new LmdbBlocks(this, blocks, options)
      const values = this.#root.openDB({ name: 'values', ...BINARY })
      this.#tables = [blocks, values]
      const [meta, format] = ['meta', 'format'].map((name) => this.#root.openDB({ name, ...BINARY })) as [Table, Table]
      // Programs before this one would not open a store with one more table.
      this.meta = new LmdbKeyValues(this, values, format)
      upgradeStore(
        { values, meta, format },
        options.path,
        (what) => this.damaged(what),
        (size, write) => this.transaction(size, write),
      )
    } catch (cause) {
      if (cause instanceof PlatformError) throw cause
      const text = `Cannot open the store ${options.path}: ${errorMessage(cause)}`
      throw new PlatformError('STORE_FAILED', text, { path: options.path }, { cause })
    }
    this.blocks = this.#blocks
  }

  /** A table whose name is damaged would be made anew, empty. @throws PlatformError STORE_DAMAGED */
  #assertTables(): void {
    const names = [...this.#root.getKeys({})].map((key) => latin1(copyOf(key as Uint8Array) as Uint8Array))
    const strange = names.find((name) => !TABLES.includes(name.replace(/\0$/, '')))
    if (strange !== undefined) this.damaged(`the table of tables, which names ${JSON.stringify(strange)},`)
  }

  /** Throws STORE_CLOSED after {@link LmdbEnvironment.close}. */
  assertOpen(): void {
    if (this.#closed) throw new PlatformError('STORE_CLOSED', 'Cannot use the store: it is closed')
  }

  /** Whether walks of the tables come by as many entries as LMDB has counted: a damaged page can hide some. */
  isCountRight(): boolean {
    this.assertOpen()
    return this.#tables.every((table) => {
      const { entryCount } = table.getStats() as { entryCount: number }
      return table.getKeysCount({}) === entryCount
    })
  }

  /** What the blocks that are on disk take, bytes: pages in use, not the file, which never shrinks. */
  blockBytes(): number {
    this.assertOpen()
    const [blocks] = this.#tables
    const stats = blocks?.getStats() as Record<
      'pageSize' | 'treeBranchPageCount' | 'treeLeafPageCount' | 'overflowPages',
      number
    >
    return stats.pageSize * (stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages)
  }

  /** Throws STORE_DAMAGED. @param what - that is not what was written: a block by its CID, an entry by its key */
  damaged(what: string): never {
    const text = `Cannot read ${what}: the store ${this.#path} is damaged; \`petrel doctor --deep\` says how far`
    throw new PlatformError('STORE_DAMAGED', text, { path: this.#path, what })
  }

  /**
   * Commits the pending blocks and then what `also` writes, as one transaction.
   * @param size - of what `also` writes
   * @throws PlatformError STORE_FULL, STORE_READ_ONLY, STORE_FAILED
   */
  commit(size: WriteSize = NO_WRITES, also?: () => void): void {
    const { due } = this.#blocks
    this.transaction({ writes: due.writes + size.writes, bytes: due.bytes + size.bytes }, () => {
      this.#blocks.write()
      also?.()
    })
    this.#blocks.committed()
  }

  /**
   * Runs writes as one transaction, without what is pending.
   * @param write - may be run again
   * @throws as {@link LmdbEnvironment.commit}
   */
  transaction(size: WriteSize, write: () => void, attempts: number = COMMIT_ATTEMPTS): void {
    this.assertOpen()
    const giveBack = this.#takeRoom(size)
    let ours = true
    try {
      this.#root.transactionSync(() => {
        write()
        ours = false
      })
    } catch (cause) {
      if (attempts > 1 && isFalseAlarm(cause)) return this.transaction(size, write, attempts - 1)
      const error = this.#writeFailed(cause)
      // LMDB's own failures carry a number. What is thrown by who fills the transaction only ends that.
      if (!ours || hasNumber(cause)) this.#broken = error
      throw error
    } finally {
      giveBack()
    }
  }

  /** {@link LmdbEnvironment.commit} by LMDB's own thread: to write and sync takes 5 to 15 ms here, on a busy disk 300. */
  writeAside(size: WriteSize, also: () => void): Promise<void> {
    return this.#blocks.writeAside(size, also)
  }

  /** The same work, which the end of the store waits for. */
  async awaited(work: Promise<void>): Promise<void> {
    this.#aside.add(work)
    try {
      await work
    } finally {
      this.#aside.delete(work)
    }
  }

  /**
   * Has LMDB's own thread commit what `write` puts, as one transaction, without what is pending.
   * @param write - resolves when it is on stable storage; may be run again
   * @throws PlatformError STORE_FULL, STORE_READ_ONLY, STORE_FAILED, as a rejection
   */
  async commitAside(size: WriteSize, write: () => Promise<unknown>, attempts: number = COMMIT_ATTEMPTS): Promise<void> {
    this.assertOpen()
    const giveBack = this.#takeRoom(size)
    const written = write()
    this.#aside.add(written)
    try {
      await written
    } catch (failure) {
      const cause = await commitErrorOf(failure)
      if (attempts > 1 && isFalseAlarm(cause)) return await this.commitAside(size, write, attempts - 1)
      this.#broken = this.#writeFailed(cause)
      throw this.#broken
    } finally {
      giveBack()
      this.#aside.delete(written)
    }
  }

  #writeFailed(cause: unknown): PlatformError {
    const text = `Cannot write to the store: ${errorMessage(cause)}`
    return new PlatformError('STORE_FAILED', text, { path: this.#path }, { cause })
  }

  /** Why a commit of what is pending would be refused. See {@link KeyValueStore.whyUnwritable}. */
  whyUnwritable(): string | undefined {
    try {
      this.assertOpen()
      this.#assertWritable()
      this.#room.assertRoom(this.#blocks.due)
      return undefined
    } catch (error) {
      if (error instanceof PlatformError) return error.message
      throw error
    }
  }

  /** Whatever room there is. @throws PlatformError STORE_READ_ONLY, STORE_FAILED */
  #assertWritable(): void {
    if (this.#broken !== undefined) throw this.#broken
    this.reads.assertReadable()
    this.#below?.assertReadable()
    assertNotReadOnly(this.#path)
  }

  /** Takes the room of a commit. @returns gives it back @throws as {@link LmdbEnvironment.commit} */
  #takeRoom(size: WriteSize): () => void {
    this.#assertWritable()
    return this.#room.take(size)
  }

  /**
   * From here on reads see all that is committed. LMDB gives those of one turn of the loop the state that the first of them has seen, and
   * another thread may have committed since.
   */
  readNewest(): void {
    this.assertOpen()
    this.#root.resetReadTxn()
  }

  /** Commits, and resolves when all is on stable storage. */
  async flush(): Promise<void> {
    this.assertOpen()
    // What was committed is on the disk already; nothing may fail for want of room that needs none.
    if (this.#blocks.due.writes > 0) this.commit()
    await Promise.allSettled(this.#aside)
    await this.#root.flushed
  }

  /** Flushes and closes, also when that fails. */
  async close(): Promise<void> {
    if (this.#closed) return
    try {
      await this.flush()
    } finally {
      this.#closed = true
      this.#room.close()
      await this.#root.close()
    }
  }
}
