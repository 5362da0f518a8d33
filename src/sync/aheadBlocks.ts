/**
 * Blocks that were fetched before it is known whether anybody will need them: few, small, in memory. Whoever makes up what they are
 * reached by gets nothing onto the disk.
 */
import { Lru } from '../base/lru.ts'
import type { Clock } from '../base/ports.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockSource } from '../ipld/blockFetcher.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { IpldError } from '../ipld/errors.ts'
import { NodeCache } from '../ipld/nodeCache.ts'
import { AHEAD_BLOCK_BYTES, AHEAD_BYTES, AHEAD_MS } from './limits.ts'

/** Decoded nodes of them, bytes. */
const CACHE_BYTES = 8 * 1024 * 1024

interface Kept {
  readonly key: string
  readonly data: Uint8Array
  readonly sinceMs: number
}

/** A store whose new blocks stay in memory; a source that gives them away. */
export class AheadBlocks implements Blockstore, BlockSource {
  readonly nodes: NodeCache = new NodeCache(CACHE_BYTES)
  readonly #store: Blockstore
  readonly #clock: Clock
  readonly #kept = new Lru<string, Kept>(AHEAD_BYTES, ({ data }) => data.length)

  /** @param store - what is read of old */
  constructor(store: Blockstore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  get(cid: Cid): Uint8Array | undefined {
    return this.#kept.get(cid.key)?.data ?? this.#store.get(cid)
  }

  has(cid: Cid): boolean {
    return this.#kept.get(cid.key) !== undefined || this.#store.has(cid)
  }

  /** @throws IpldError `OUT_OF_RANGE` */
  put(cid: Cid, data: Uint8Array): void {
    if (data.length > AHEAD_BLOCK_BYTES) {
      throw new IpldError('OUT_OF_RANGE', `Cannot fetch ahead: a block of ${data.length} bytes`, {
        cid: cid.toString(),
      })
    }
    const nowMs = this.#clock.monotonicMs()
    // Its checks are over, and read something else: it would stay until there is no room for more.
    for (const { key, sinceMs } of this.#kept.values()) {
      if (nowMs - sinceMs < AHEAD_MS) break
      this.#kept.delete(key)
    }
    this.#kept.set(cid.key, { key: cid.key, data, sinceMs: nowMs })
  }

  fetch(cids: readonly Cid[]): Promise<readonly (readonly [Cid, Uint8Array])[]> {
    const found: [Cid, Uint8Array][] = []
    for (const cid of cids) {
      const kept = this.#kept.get(cid.key)
      if (kept === undefined) continue
      found.push([cid, kept.data])
      this.#kept.delete(cid.key)
    }
    return Promise.resolve(found)
  }
}
