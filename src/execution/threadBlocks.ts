import { PetrelError } from '../base/errors.ts'
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { NodeCache } from '../ipld/nodeCache.ts'
import type { SentBlock } from './vmMessages.ts'

/**
 * The blocks of a thread that only reads the chain: what it was given or wrote itself, for a while, over what it can read.
 * A block that is in neither may still be the chain's: reading it throws `BlockMissing`, until the thread was told that the
 * chain lacks it too.
 */
export class ThreadBlocks implements Blockstore {
  readonly nodes: NodeCache
  readonly #base: Blockstore | undefined
  readonly #generationBytes: number
  #young = new Map<string, Uint8Array>()
  #old = new Map<string, Uint8Array>()
  #youngBytes = 0
  #written: SentBlock[] = []
  #absent: ReadonlySet<string> = new Set()
  readonly #checkpoint: () => void

  /**
   * @param base - undefined where the thread can read nothing by itself
   * @param maxBytes - of blocks that were given or written; those beyond are asked for again
   * @param checkpoint - called when a block is read or made; what it throws ends the execution
   */
  constructor(base: Blockstore | undefined, maxBytes: number, checkpoint: () => void = () => undefined) {
    this.#checkpoint = checkpoint
    this.#base = base
    this.nodes = base?.nodes ?? new NodeCache()
    this.#generationBytes = maxBytes / 2
  }

  /** @throws BlockMissing */
  get(cid: Cid): Uint8Array | undefined {
    this.#checkpoint()
    const data = this.#young.get(cid.key) ?? this.#old.get(cid.key) ?? this.#own((base) => base.get(cid))
    if (data === undefined && !this.#absent.has(cid.key)) throw new BlockMissing([cid])
    return data
  }

  /** Whether it is at hand: it may be the chain's nevertheless. */
  has(cid: Cid): boolean {
    return this.#young.has(cid.key) || this.#old.has(cid.key) || this.#own((base) => base.has(cid)) === true
  }

  /** What the disk does not give is asked of the node: it fails there as well, which its health tells, or comes from there. */
  #own<T>(read: (base: Blockstore) => T): T | undefined {
    if (this.#base === undefined) return undefined
    try {
      return read(this.#base)
    } catch (error) {
      if (error instanceof PetrelError && error.code === 'STORE_FAILED') return undefined
      throw error
    }
  }

  /** Keeps a block that an execution makes. */
  put(cid: Cid, data: Uint8Array): void {
    this.#checkpoint()
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

  /** Says which blocks the chain does not have, instead of what was said before. */
  setAbsent(cids: readonly Cid[]): void {
    this.#absent = new Set(cids.map((cid) => cid.key))
  }

  /** What {@link ThreadBlocks.put} took since the last call. */
  takeWritten(): SentBlock[] {
    const written = this.#written
    this.#written = []
    return written
  }
}
