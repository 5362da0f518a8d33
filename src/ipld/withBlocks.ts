/**
 * The outer edge of the synchronous core (ARCHITECTURE, decision 1): runs a function; when a block is missing, fetches
 * it, keeps it, and runs the function again from the start.
 */
import type { Cid } from '../codec/cid.ts'
import { BlockFetcher, type BlockSource } from './blockFetcher.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from './blockstore.ts'

export type { BlockSource }

/** What {@link withBlocks} works with. */
export interface WithBlocksOptions {
  readonly store: Blockstore
  /** Asked in order for what is still missing. */
  readonly sources: readonly BlockSource[]
  readonly signal?: AbortSignal
  /** Most runs; each one but the first follows a fetch that brought something. Default 100,000. */
  readonly maxRuns?: number
}

/**
 * Runs `run` until no block is missing. Fetched blocks go to the store, and stay in a layer of their own for as long
 * as this call lasts, so that an eviction in the store cannot make it run for ever.
 * @param run - synchronous, and free of effects outside `store`: it may run many times
 * @throws BlockMissing when no source has the block; IpldError `CID_MISMATCH`, `NO_PROGRESS`; whatever `run` throws
 */
export function withBlocks<T>(options: WithBlocksOptions, run: (store: Blockstore) => T): Promise<T> {
  const { store, sources, signal, maxRuns } = options
  const pinned = new PinnedBlocks(store)
  const fetcher = new BlockFetcher(pinned, sources, maxRuns)
  return fetcher.run(() => run(pinned), signal)
}

/** What is written here stays, whatever the store below forgets. */
class PinnedBlocks extends LayeredBlockstore {
  readonly #store: Blockstore
  readonly #pinned: Blockstore

  constructor(store: Blockstore) {
    const pinned = new MemoryBlockstore()
    super([store, pinned])
    this.#store = store
    this.#pinned = pinned
  }

  override put(cid: Cid, data: Uint8Array): void {
    this.#pinned.put(cid, data)
    this.#store.put(cid, data)
  }
}
