/**
 * The chain of a tab in IndexedDB, behind the core's synchronous stores.
 *
 * Reads come from memory: all of the key-value store, and the blocks used lately. A block that is in the database alone is
 * brought by {@link BrowserStores.source} (ARCHITECTURE, decision 1). Writes are gathered and go out in one transaction
 * over both stores, so that a head in the database never names a block that is not, whenever the tab ends. A write is in
 * the database when {@link BrowserStores.settle} resolves: what the node tells anybody waits for that (frames.ts).
 *
 * Above the bound, or when the browser's quota is used up, the oldest blocks go: a follower fetches them again. What is in
 * the key-value store (head, indexes, local messages), secrets and pinned blocks stay.
 */
import { entries, getMany } from 'idb-keyval'
import { fromLatin1 } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueOp, KeyValueStore, Logger } from '../../src/base/ports.ts'
import type { Cid } from '../../src/codec/cid.ts'
import type { BlockSource } from '../../src/ipld/blockFetcher.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { type Database, type Durability, MARK } from './database.ts'
import { BrowserError } from './errors.ts'
import { bytesAdded, copyOf, putOps } from './keyValueOps.ts'
import { MemoryBlocks } from './memoryBlocks.ts'
import { StoredBlocks } from './storedBlocks.ts'
import {
  BLOCKS_WAIT_MS,
  EVICT_TO,
  MAX_DISK_BYTES,
  MAX_MEMORY_BYTES,
  MAX_META_BYTES,
  MAX_WAITING_BYTES,
  NODE_CACHE_BYTES,
  PRELOAD_BYTES,
  PRELOAD_STEP,
  RETRY_MS,
  WRITE_AT_BYTES,
} from './storeLimits.ts'
import { takeBack } from './takeBack.ts'
import { firstOf } from './writeParts.ts'

/** How to open the stores. */
export interface BrowserStoresOptions {
  readonly database: Database
  readonly log: Logger
  /** Old blocks may go: they can be fetched again. Otherwise a full store refuses writes. */
  readonly evict: boolean
  readonly maxMemoryBytes?: number
  readonly maxDiskBytes?: number
  readonly preloadBytes?: number
  /** Told when writing fails, and undefined when it works again. */
  readonly onTrouble?: (trouble: BrowserError | undefined) => void
}

/** What the stores hold. */
export interface StoreFigures {
  readonly blocks: number
  readonly blockBytes: number
  readonly waitingBytes: number
}

/** Reads every store that has to be in memory. */
export async function openBrowserStores(options: BrowserStoresOptions): Promise<BrowserStores> {
  const { database, preloadBytes = PRELOAD_BYTES } = options
  const [stored, meta] = await Promise.all([
    StoredBlocks.load(database),
    entries<string, Uint8Array>(database.use('meta')),
  ])
  const stores = new BrowserStores(options, stored, meta)
  await stores.preload(preloadBytes)
  return stores
}

/** Blocks and values of one tab, and the writes of theirs that are not in the database yet. */
export class BrowserStores {
  readonly blocks: Blockstore
  readonly meta: KeyValueStore
  /** Blocks that are in the database and not in memory. */
  readonly source: BlockSource
  readonly #options: BrowserStoresOptions
  readonly #database: Database
  readonly #stored: StoredBlocks
  readonly #memory: MemoryBlocks
  readonly #values = new MemoryStore()
  #pinned: ReadonlySet<string> = new Set()
  #blocksDue = new Map<string, Uint8Array>()
  #opsDue: KeyValueOp[] = []
  #bytesDue = 0
  #metaBytes = 0
  /** The write under way. */
  #writing: Promise<void> | undefined
  /** The write behind it: it takes all that is due when it starts. */
  #next: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #strict = false
  #trouble: BrowserError | undefined
  #closed = false

  constructor(options: BrowserStoresOptions, stored: StoredBlocks, meta: readonly (readonly [string, Uint8Array])[]) {
    this.#options = options
    this.#database = options.database
    this.#stored = stored
    this.#memory = new MemoryBlocks(this.#maxMemoryBytes)
    for (const [key, value] of meta) {
      if (key.startsWith(MARK)) continue
      this.#values.put(fromLatin1(key), value)
      this.#metaBytes += value.length
    }
    this.blocks = this.#openBlocks()
    this.meta = this.#openMeta()
    this.source = {
      fetch: async (cids) => {
        const names = cids.filter((cid) => this.#stored.has(cid.key))
        const values = await this.#read(names.map(({ key }) => key))
        return names.flatMap((cid, i) => (values[i] === undefined ? [] : [[cid, values[i]] as const]))
      },
    }
  }

  get figures(): StoreFigures {
    return { blocks: this.#stored.size, blockBytes: this.#stored.bytes, waitingBytes: this.#bytesDue }
  }

  /** Why writing fails at present. */
  get trouble(): BrowserError | undefined {
    return this.#trouble
  }

  /** Blocks that no eviction takes: genesis, the head's headers. Replaces the last list. */
  pin(cids: Iterable<Cid>): void {
    this.#pinned = new Set([...cids].map(({ key }) => key))
  }

  /** Reads the newest blocks into memory. */
  async preload(maxBytes: number): Promise<void> {
    const names = this.#stored.newest(Math.min(maxBytes, this.#maxMemoryBytes / 2))
    for (let at = 0; at < names.length; at += PRELOAD_STEP) {
      const part = names.slice(at, at + PRELOAD_STEP)
      const values = await this.#read(part)
      part.forEach((name, i) => {
        const data = values[i]
        if (data !== undefined) this.#memory.keep(name, data)
      })
    }
  }

  /**
   * Resolves when every write before it is in the database; at once, with undefined, when all are. An end of the tab loses
   * nothing then.
   * @throws BrowserError `STORE_FULL`, `STORE_FAILED`, as a rejection: what waits is tried again with the next write, and each second
   */
  settle(): Promise<void> | undefined {
    if (!this.#isDue) return this.#writing
    // A promise for each write: one for all would never resolve while more keeps coming.
    this.#next ??= this.#writeNext()
    return this.#next
  }

  /** Like {@link BrowserStores.settle}, and on stable storage: a loss of power loses nothing. */
  async flush(): Promise<void> {
    this.#assertOpen()
    // What is being written already is not strict: the mark goes into a write behind it.
    this.#opsDue.push({ op: 'put', key: FLUSH_MARK, value: new Uint8Array(0) })
    this.#strict = true
    await this.settle()
  }

  /** Flushes and gives the database up; a failure to write does not keep it open. */
  async close(): Promise<void> {
    if (this.#closed) return
    try {
      await this.flush()
      // What was written meanwhile: nobody writes on when the node has stopped.
      while (this.#isDue || this.#writing !== undefined) await this.settle()
    } catch (error) {
      this.#options.log.error('the store was closed with writes undone', { reason: errorMessage(error) })
    }
    this.#closed = true
    clearTimeout(this.#timer)
    this.#memory.clear()
    await this.#values.close()
    this.#database.close()
  }

  get #maxMemoryBytes(): number {
    return this.#options.maxMemoryBytes ?? MAX_MEMORY_BYTES
  }

  get #isDue(): boolean {
    return this.#blocksDue.size > 0 || this.#opsDue.length > 0
  }

  #openBlocks(): Blockstore {
    return {
      nodes: new NodeCache(Math.min(NODE_CACHE_BYTES, this.#maxMemoryBytes)),
      get: (cid) => {
        this.#assertOpen()
        return this.#memory.get(cid.key)
      },
      has: (cid) => {
        this.#assertOpen()
        return this.#memory.has(cid.key)
      },
      put: (cid, data) => {
        this.#assertOpen()
        const { key } = cid
        if (this.#stored.has(key)) {
          this.#memory.keep(key, data)
          return
        }
        // In memory alone is not enough: an eviction takes from the database what memory still holds.
        if (this.#memory.isWaiting(key)) return
        this.#admit(data.length)
        this.#memory.wait(key, data)
        this.#blocksDue.set(key, data)
        this.#announce(this.#bytesDue >= WRITE_AT_BYTES ? 0 : BLOCKS_WAIT_MS)
      },
    }
  }

  #openMeta(): KeyValueStore {
    const change = (ops: readonly KeyValueOp[], isUndoing: boolean): void => {
      this.#assertOpen()
      const bytes = bytesAdded(this.#values, ops)
      if (this.#metaBytes + bytes > MAX_META_BYTES) {
        const message = `Cannot write to the store: it holds ${this.#metaBytes} bytes, at most ${MAX_META_BYTES}`
        throw new BrowserError('STORE_FULL', message)
      }
      // What makes room, or undoes, is never refused.
      const isChange = bytes > 0 || (!this.#options.evict && ops.some(({ op }) => op === 'put'))
      if (isChange && !isUndoing) this.#admit(Math.max(0, bytes))
      this.#values.batch(ops)
      this.#metaBytes += bytes
      for (const op of ops) this.#opsDue.push(copyOf(op))
      if (ops.length > 0) this.#announce(0)
    }
    const batch = (ops: readonly KeyValueOp[]): void => change(ops, false)
    const commit = async (ops: readonly KeyValueOp[]): Promise<void> => {
      const undone = takeBack(this.#values, ops)
      batch(ops)
      try {
        await this.flush()
      } catch (error) {
        // It would get through some time later.
        change(undone(), true)
        throw error
      }
    }
    return {
      get: (key) => this.#values.get(key),
      has: (key) => this.#values.has(key),
      keys: (prefix) => this.#values.keys(prefix),
      put: (key, value) => batch([{ op: 'put', key, value }]),
      delete: (key) => batch([{ op: 'delete', key }]),
      batch,
      commit,
      flush: () => this.flush(),
      close: () => this.close(),
    }
  }

  /**
   * Refuses a write while nothing gets through: at once where nobody else has the blocks, so that nothing goes on which an end of the
   * tab would take back; else above a bound on what is fetched again.
   */
  #admit(bytes: number): void {
    const isRefused = !this.#options.evict || this.#bytesDue + bytes > MAX_WAITING_BYTES
    if (this.#trouble !== undefined && isRefused) throw this.#trouble
    this.#bytesDue += bytes
  }

  #announce(ms: number): void {
    if (this.#next !== undefined || (this.#timer !== undefined && ms > 0)) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.settle()?.catch(() => undefined)
    }, ms)
  }

  async #writeNext(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // Writes of the same turn of the loop go along. A failure of the one before is told to those who wait for it.
    await this.#writing?.catch(() => undefined)
    this.#writing = this.#next
    this.#next = undefined
    try {
      if (this.#isDue) await this.#writeDue()
      this.#setTrouble(undefined)
    } catch (error) {
      const trouble = error instanceof BrowserError ? error : new BrowserError('STORE_FAILED', errorMessage(error))
      this.#setTrouble(trouble)
      throw trouble
    } finally {
      this.#writing = undefined
    }
  }

  async #writeDue(): Promise<void> {
    const blocks = this.#blocksDue
    const ops = this.#opsDue
    let bytes = this.#bytesDue
    const durability: Durability = this.#strict ? 'strict' : 'relaxed'
    this.#blocksDue = new Map()
    this.#opsDue = []
    this.#bytesDue = 0
    this.#strict = false
    try {
      await this.#makeRoom(bytes)
      for (let part = firstOf(blocks); part.size < blocks.size; part = firstOf(blocks)) {
        await this.#write(part, [], 'relaxed')
        for (const [key, data] of part) {
          blocks.delete(key)
          bytes -= data.length
        }
      }
      await this.#write(blocks, ops, durability)
    } catch (error) {
      // In order again: what came meanwhile is newer.
      this.#blocksDue = new Map([...blocks, ...this.#blocksDue])
      this.#opsDue = [...ops, ...this.#opsDue]
      this.#bytesDue += bytes
      this.#strict ||= durability === 'strict'
      throw error
    }
  }

  /** One transaction. */
  async #write(
    blocks: ReadonlyMap<string, Uint8Array>,
    ops: readonly KeyValueOp[],
    durability: Durability,
  ): Promise<void> {
    for (;;) {
      try {
        let batch: ReturnType<StoredBlocks['put']> | undefined
        await this.#database.write(['blocks', 'batches', 'meta'], durability, (of) => {
          batch = this.#stored.put(of, blocks)
          putOps(of('meta'), ops)
        })
        if (batch !== undefined) this.#stored.committed(batch)
        for (const key of blocks.keys()) this.#memory.written(key)
        return
      } catch (error) {
        // The browser gives no figure: a part of what is here goes, until it fits or nothing is left to go.
        const isFull = error instanceof BrowserError && error.code === 'STORE_FULL'
        if (!isFull || !(await this.#evict(Math.max(1, this.#stored.bytes * (1 - EVICT_TO))))) throw error
      }
    }
  }

  async #makeRoom(bytes: number): Promise<void> {
    const most = this.#options.maxDiskBytes ?? MAX_DISK_BYTES
    if (!this.#options.evict || this.#stored.bytes + bytes <= most) return
    await this.#evict(this.#stored.bytes + bytes - most * EVICT_TO)
  }

  /** @returns false when nothing could go */
  async #evict(bytes: number): Promise<boolean> {
    if (!this.#options.evict) return false
    const isPinned = (key: string): boolean => this.#pinned.has(key)
    const isInUse = (key: string): boolean => isPinned(key) || this.#memory.isRecent(key)
    // What is in memory can go from the disk all the same, pinned blocks cannot.
    const keeps = [isInUse, isPinned]
    const freed = await this.#stored.evictOldest(this.#database, bytes, keeps, (keys) => this.#forgetDue(keys))
    this.#options.log.debug('old blocks evicted', { bytes: freed })
    return freed > 0
  }

  /** These are in the database after all: written again they would count twice. */
  #forgetDue(keys: readonly string[]): void {
    for (const key of keys) {
      const data = this.#blocksDue.get(key)
      if (data === undefined) continue
      this.#blocksDue.delete(key)
      this.#bytesDue -= data.length
      this.#memory.written(key)
    }
  }

  #read(names: string[]): Promise<(Uint8Array | undefined)[]> {
    return names.length === 0 ? Promise.resolve([]) : getMany<Uint8Array>(names, this.#database.use('blocks'))
  }

  #setTrouble(trouble: BrowserError | undefined): void {
    if (trouble !== undefined) this.#announce(RETRY_MS)
    if (trouble?.message === this.#trouble?.message) return
    this.#trouble = trouble
    if (trouble !== undefined) this.#options.log.error('cannot write to the store', { reason: trouble.message })
    else this.#options.log.info('the store is written to again')
    this.#options.onTrouble?.(trouble)
  }

  #assertOpen(): void {
    if (this.#closed) throw new BrowserError('STORE_CLOSED', 'Cannot use the store: it is closed')
  }
}

/** Written by a flush, so that there is something to write. */
const FLUSH_MARK = fromLatin1(MARK)
