/**
 * The outer edge of the synchronous core (ARCHITECTURE, decision 1): runs a function; when a block is missing, fetches
 * it, keeps it, and runs the function again from the start.
 */
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, hasBlock, LayeredBlockstore, MemoryBlockstore } from './blockstore.ts'
import { BlockMissing, IpldError } from './errors.ts'
import { verifyBlock } from './verifyBlock.ts'

/** Somewhere blocks can be had that is not the store: a database in the browser, a peer. */
export interface BlockSource {
  /**
   * Blocks by CID. May bring more than it was asked for, or fewer.
   * Every block is checked against its CID afterwards: a source need not.
   */
  fetch(cids: readonly Cid[], signal: AbortSignal | undefined): Promise<readonly (readonly [Cid, Uint8Array])[]>
}

/** What {@link withBlocks} works with. */
export interface WithBlocksOptions {
  readonly store: Blockstore
  /** Asked in order for what is still missing. */
  readonly sources: readonly BlockSource[]
  readonly signal?: AbortSignal
  /** Most runs; each one but the first follows a fetch that brought something. Default 100,000. */
  readonly maxRuns?: number
}

const DEFAULT_MAX_RUNS = 100_000

/**
 * Runs `run` until no block is missing. Fetched blocks go to the store, and stay in a layer of their own for as long
 * as this call lasts, so that an eviction in the store cannot make it run for ever.
 * @param run - synchronous, and free of effects outside `store`: it may run many times
 * @throws BlockMissing when no source has the block; IpldError `CID_MISMATCH`, `NO_PROGRESS`; whatever `run` throws
 */
export async function withBlocks<T>(options: WithBlocksOptions, run: (store: Blockstore) => T): Promise<T> {
  const { store, sources, signal } = options
  const maxRuns = options.maxRuns ?? DEFAULT_MAX_RUNS
  const pinned = new MemoryBlockstore()
  const layered = new LayeredBlockstore([store, pinned])
  for (let runs = 0; runs < maxRuns; runs++) {
    try {
      return run(layered)
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      await fetchMissing(error, layered, pinned, sources, signal)
    }
  }
  throw new IpldError('NO_PROGRESS', `Cannot finish: blocks were still missing after ${maxRuns} runs`)
}

async function fetchMissing(
  missing: BlockMissing,
  store: Blockstore,
  pinned: MemoryBlockstore,
  sources: readonly BlockSource[],
  signal: AbortSignal | undefined,
): Promise<void> {
  let wanted = missing.cids
  for (const source of sources) {
    signal?.throwIfAborted()
    for (const [cid, data] of await source.fetch(wanted, signal)) {
      verifyBlock(cid, data)
      pinned.put(cid, data)
      store.put(cid, data)
    }
    wanted = wanted.filter((cid) => !hasBlock(store, cid))
    if (wanted.length === 0) return
  }
  throw new BlockMissing(wanted)
}
