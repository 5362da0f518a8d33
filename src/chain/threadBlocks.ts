/**
 * The blocks of a thread that only reads the chain: what it was given or wrote itself, for a while, over what it can read.
 */
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { NodeCache } from '../ipld/nodeCache.ts'
import type { SentBlock } from './vmMessages.ts'

/** See the file's comment. */
export class ThreadBlocks implements Blockstore {
  readonly nodes: NodeCache
  readonly #base: Blockstore | undefined
  readonly #generationBytes: number
  #young = new Map<string, Uint8Array>()
  #old = new Map<string, Uint8Array>()
  #youngBytes = 0
  #written: SentBlock[] = []

  /**
   * @param base - undefined where the thread can read nothing by itself
   * @param maxBytes - of blocks that were given or written; those beyond are asked for again
   */
  constructor(base: Blockstore | undefined, maxBytes: number) {
    this.#base = base
    this.nodes = base?.nodes ?? new NodeCache()
    this.#generationBytes = maxBytes / 2
  }

  get(cid: Cid): Uint8Array | undefined {
    return this.#young.get(cid.key) ?? this.#old.get(cid.key) ?? this.#base?.get(cid)
  }

  has(cid: Cid): boolean {
    return this.#young.has(cid.key) || this.#old.has(cid.key) || this.#base?.has(cid) === true
  }

  /** Keeps a block that an execution makes. */
  put(cid: Cid, data: Uint8Array): void {
    this.give(cid, data)
    this.#written.push([cid, data])
  }

  /** Keeps a block that the chain has already. */
  give(cid: Cid, data: Uint8Array): void {
    if (this.#youngBytes >= this.#generationBytes) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(cid.key, data)
    this.#youngBytes += data.length
  }

  /** What {@link ThreadBlocks.put} took since the last call. */
  takeWritten(): SentBlock[] {
    const written = this.#written
    this.#written = []
    return written
  }
}
