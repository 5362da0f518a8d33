import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from './blockstore.ts'
import { BlockDamaged } from './errors.ts'
import { NodeCache } from './nodeCache.ts'
import { isBlockOf } from './verifyBlock.ts'

/** Of decoded nodes, bytes: it is used when something is wrong. */
const CACHE_BYTES = 8 * 1024 * 1024

/**
 * A store of which every block is hashed when it is read, with decoded nodes of its own: what was read before through the
 * store itself may have been damaged.
 */
export class CheckedBlockstore implements Blockstore {
  readonly nodes: NodeCache = new NodeCache(CACHE_BYTES)
  readonly #store: Blockstore

  constructor(store: Blockstore) {
    this.#store = store
  }

  /** @throws BlockDamaged */
  get(cid: Cid): Uint8Array | undefined {
    const data = this.#store.get(cid)
    if (data !== undefined && !isBlockOf(cid, data)) throw new BlockDamaged(cid)
    return data
  }

  has(cid: Cid): boolean {
    return this.#store.has(cid)
  }

  put(cid: Cid, data: Uint8Array): void {
    this.#store.put(cid, data)
  }
}
