/** What a collector of garbage needs of a store. */
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, MemoryBlockstore } from './blockstore.ts'

/** Hears of blocks that are put. */
export type PutListener = (cid: Cid, data: Uint8Array) => void
/** Hears of blocks that are read. */
export type GetListener = (cid: Cid) => void

/**
 * A store whose blocks can be looked through and deleted. Suite: test/contract/collectable.ts.
 */
export interface CollectableBlocks extends Blockstore {
  /**
   * Blocks in order of their CIDs' bytes.
   * @param after - the last one seen; undefined: from the start
   * @returns at most `limit`, fewer only at the end; blocks that are put meanwhile may be among them or not
   */
  scan(after: Cid | undefined, limit: number): readonly Cid[]
  /** First byte of a block's data; undefined when it is not there or empty. */
  firstByte(cid: Cid): number | undefined
  /**
   * Deletes blocks: all of them or, when the process is killed, none. A block that was put and is not on disk yet is
   * not touched. Those that are not there are passed over.
   */
  deleteAll(cids: readonly Cid[]): void
  /**
   * Hears of every put, also of a block that is there already, before it returns.
   * @returns what ends it
   */
  onPut(listener: PutListener): () => void
  /**
   * Hears of every block that `get` finds, in this thread.
   * @returns what ends it
   */
  onGet(listener: GetListener): () => void
}

/** Blocks in memory that can be collected. */
export class CollectableMemory extends MemoryBlockstore implements CollectableBlocks {
  readonly #cids = new Map<string, Cid>()
  readonly #listeners = new Set<PutListener>()
  readonly #getListeners = new Set<GetListener>()

  override get(cid: Cid): Uint8Array | undefined {
    const data = super.get(cid)
    if (data !== undefined) for (const listener of this.#getListeners) listener(cid)
    return data
  }

  override put(cid: Cid, data: Uint8Array): void {
    for (const listener of this.#listeners) listener(cid, data)
    super.put(cid, data)
    this.#cids.set(cid.key, cid)
  }

  scan(after: Cid | undefined, limit: number): readonly Cid[] {
    const keys = [...this.#cids.keys()].sort()
    const rest = after === undefined ? keys : keys.filter((key) => key > after.key)
    return rest.slice(0, limit).map((key) => this.#cids.get(key) as Cid)
  }

  firstByte(cid: Cid): number | undefined {
    return super.get(cid)?.[0]
  }

  deleteAll(cids: readonly Cid[]): void {
    for (const cid of cids) {
      this.#cids.delete(cid.key)
      this.delete(cid)
    }
  }

  onPut(listener: PutListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onGet(listener: GetListener): () => void {
    this.#getListeners.add(listener)
    return () => this.#getListeners.delete(listener)
  }
}
