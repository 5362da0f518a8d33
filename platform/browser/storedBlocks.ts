/**
 * Which blocks are in IndexedDB, in the order in which they came: batches, each with a record of its own, so that the
 * oldest can go without a look at every block.
 */
import { entries } from 'idb-keyval'
import type { Database, StoreOf } from './database.ts'
import { CHANGE_BYTES, TRANSACTION_BYTES } from './storeLimits.ts'

/** The blocks of one write. */
export interface BatchRecord {
  readonly keys: readonly string[]
  /** Bytes of each. */
  readonly sizes: readonly number[]
}

/** What an eviction does: old batches go, with most of their blocks. */
export interface Eviction {
  readonly batches: readonly number[]
  readonly removed: readonly string[]
  /** Blocks that stay, as a new batch. */
  readonly kept: BatchRecord
  readonly freedBytes: number
}

function bytesOf({ sizes }: BatchRecord): number {
  let total = 0
  for (const size of sizes) total += size
  return total
}

/** The index of the stored blocks. What comes is in it after its transaction has committed, what goes is not in it before. */
export class StoredBlocks {
  readonly #batches = new Map<number, BatchRecord>()
  readonly #keys = new Set<string>()
  #bytes = 0
  #next = 1

  static async load(database: Database): Promise<StoredBlocks> {
    const stored = new StoredBlocks()
    const found = await entries<number, BatchRecord>(database.use('batches'))
    for (const [number, batch] of found.sort(([a], [b]) => a - b)) stored.#add(number, batch)
    return stored
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#keys.size
  }

  /** Names of blocks, newest first, of at most so many bytes in all. */
  newest(maxBytes: number): string[] {
    const names: string[] = []
    let left = maxBytes
    for (const { keys, sizes } of [...this.#batches.values()].reverse()) {
      for (let i = keys.length - 1; i >= 0; i--) {
        left -= sizes[i] as number
        if (left < 0) return names
        names.push(keys[i] as string)
      }
    }
    return names
  }

  /** Puts blocks and their batch into a running transaction. @returns what {@link StoredBlocks.committed} is told */
  put(of: StoreOf, blocks: ReadonlyMap<string, Uint8Array>): BatchRecord {
    const store = of('blocks')
    const batch = { keys: [] as string[], sizes: [] as number[] }
    for (const [key, data] of blocks) {
      // A view of a larger buffer would be stored with all of it.
      store.put(data.byteLength === data.buffer.byteLength ? data : data.slice(), key)
      batch.keys.push(key)
      batch.sizes.push(data.length)
    }
    if (batch.keys.length > 0) of('batches').put(batch, this.#next)
    return batch
  }

  committed(batch: BatchRecord): void {
    if (batch.keys.length > 0) this.#add(this.#next, batch)
  }

  /**
   * Chooses the oldest blocks, of `bytes` at least where there are as many, and no more than one transaction takes.
   * @param keep - blocks that stay: in use, or not to be had again
   */
  planEviction(bytes: number, keep: (key: string) => boolean): Eviction {
    const batches: number[] = []
    const removed: string[] = []
    const kept = { keys: [] as string[], sizes: [] as number[] }
    let freedBytes = 0
    for (const [number, { keys, sizes }] of this.#batches) {
      if (freedBytes >= bytes || removed.length * CHANGE_BYTES >= TRANSACTION_BYTES) break
      if (keys.every(keep)) continue
      batches.push(number)
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i] as string
        const size = sizes[i] as number
        if (keep(key)) {
          kept.keys.push(key)
          kept.sizes.push(size)
        } else {
          removed.push(key)
          freedBytes += size
        }
      }
    }
    return { batches, removed, kept, freedBytes }
  }

  /**
   * Removes the oldest blocks, transaction by transaction.
   * @param keeps - blocks that stay, from the most to the fewest: fewer stay where nothing else is left to go
   * @param failed - told of those that are there after all, before it throws
   * @returns bytes that are gone
   */
  async evictOldest(
    database: Database,
    bytes: number,
    keeps: readonly ((key: string) => boolean)[],
    failed: (keys: readonly string[]) => void,
  ): Promise<number> {
    let freed = 0
    for (const keep of keeps) {
      while (freed < bytes) {
        const eviction = this.planEviction(bytes - freed, keep)
        if (eviction.freedBytes === 0) break
        try {
          await this.evict(database, eviction)
        } catch (error) {
          failed(eviction.removed)
          throw error
        }
        freed += eviction.freedBytes
      }
    }
    return freed
  }

  /**
   * Carries an eviction out. What goes counts as gone from the start: a block that is put meanwhile is written again.
   * @throws BrowserError `STORE_FULL`, `STORE_FAILED`; all is where it was then
   */
  async evict(database: Database, eviction: Eviction): Promise<void> {
    for (const key of eviction.removed) this.#keys.delete(key)
    try {
      await database.write(['blocks', 'batches'], 'relaxed', (of) => this.#remove(of, eviction))
    } catch (error) {
      for (const key of eviction.removed) this.#keys.add(key)
      throw error
    }
    for (const number of eviction.batches) {
      const batch = this.#batches.get(number)
      if (batch !== undefined) this.#bytes -= bytesOf(batch)
      this.#batches.delete(number)
    }
    if (eviction.kept.keys.length > 0) this.#add(this.#next, eviction.kept)
  }

  #remove(of: StoreOf, eviction: Eviction): void {
    const blocks = of('blocks')
    for (const key of eviction.removed) blocks.delete(key)
    const batches = of('batches')
    for (const number of eviction.batches) batches.delete(number)
    if (eviction.kept.keys.length > 0) batches.put(eviction.kept, this.#next)
  }

  #add(number: number, batch: BatchRecord): void {
    this.#batches.set(number, batch)
    for (const key of batch.keys) this.#keys.add(key)
    this.#bytes += bytesOf(batch)
    this.#next = number + 1
  }
}
