/**
 * `withBlocks` for code that is bound to its store already (a chain's view, a machine): fetches what a run misses into
 * that store and runs it again. Equal blocks wanted at the same time are fetched once.
 */
import { abortable } from '../base/waiting.ts'
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, hasBlock } from './blockstore.ts'
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

/** Runs until nothing is missing. `run` may be called many times: it must change nothing before it has read all it needs. */
export type BlockEdge = <T>(run: () => T | Promise<T>, signal?: AbortSignal) => Promise<T>

/** Of a store that has all there is: nothing is fetched. */
export const allAtHand: BlockEdge = async (run) => await run()

const DEFAULT_MAX_RUNS = 100_000

/** Runs what reads one store, and fetches what it misses into it. */
export class BlockFetcher {
  readonly #store: Blockstore
  readonly #sources: readonly BlockSource[]
  readonly #maxRuns: number
  readonly #underWay = new Map<string, Promise<void>>()

  /**
   * @param store - what is fetched is kept there
   * @param sources - asked in order for what is still missing
   * @param maxRuns - each run but the first follows a fetch that brought something
   */
  constructor(store: Blockstore, sources: readonly BlockSource[], maxRuns: number = DEFAULT_MAX_RUNS) {
    this.#store = store
    this.#sources = sources
    this.#maxRuns = maxRuns
  }

  /**
   * @throws BlockMissing when no source has a block; IpldError `NO_PROGRESS` when the store does not keep what it is
   * given; whatever `run` throws
   */
  readonly run: BlockEdge = async <T>(run: () => T | Promise<T>, signal?: AbortSignal): Promise<T> => {
    for (let runs = 0; runs < this.#maxRuns; runs++) {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof BlockMissing)) throw error
        await this.fetch(error.cids, signal)
      }
    }
    throw new IpldError('NO_PROGRESS', `Cannot finish: blocks were still missing after ${this.#maxRuns} runs`)
  }

  /** Brings blocks into the store, the first of them at least. @throws BlockMissing; the signal's reason */
  async fetch(cids: readonly Cid[], signal?: AbortSignal): Promise<void> {
    const own = cids.filter((cid) => !this.#underWay.has(cid.key))
    const others = cids.map((cid) => this.#underWay.get(cid.key)).filter((fetch) => fetch !== undefined)
    const fetched = own.length === 0 ? undefined : this.#fetch(own, cids[0] as Cid, signal)
    if (fetched !== undefined) for (const cid of own) this.#underWay.set(cid.key, fetched)
    try {
      await fetched
      // Whether another's fetch brought the block, the next run sees; its signal is not ours, and we need not wait for its end.
      const ended = Promise.allSettled(others)
      await (signal === undefined ? ended : abortable(ended, signal))
    } finally {
      for (const cid of own) this.#underWay.delete(cid.key)
    }
  }

  async #fetch(cids: readonly Cid[], needed: Cid, signal: AbortSignal | undefined): Promise<void> {
    let wanted = cids
    for (const source of this.#sources) {
      signal?.throwIfAborted()
      for (const [cid, data] of await source.fetch(wanted, signal)) {
        verifyBlock(cid, data)
        this.#store.put(cid, data)
      }
      wanted = wanted.filter((cid) => !hasBlock(this.#store, cid))
      if (wanted.length === 0) return
    }
    // Those behind the first may be what a walk comes to next: it may end before.
    if (wanted.some((cid) => cid.equals(needed))) throw new BlockMissing(wanted)
  }
}
