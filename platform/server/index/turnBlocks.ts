import type { Cid } from '../../../src/codec/cid.ts'
import type { Blockstore } from '../../../src/ipld/blockstore.ts'

/**
 * What executions make, in memory for two turns. A turn ends with a transaction: rows of the next one are made while that is written, and
 * whatever else an execution reads is in the archive.
 */
export class TurnBlocks implements Blockstore {
  #young = new Map<string, Uint8Array>()
  #old = new Map<string, Uint8Array>()

  /** What was made before the turn that ended before this one goes. */
  turn(): void {
    this.#old = this.#young
    this.#young = new Map()
  }

  get(cid: Cid): Uint8Array | undefined {
    return this.#young.get(cid.key) ?? this.#old.get(cid.key)
  }

  has(cid: Cid): boolean {
    return this.get(cid) !== undefined
  }

  put(cid: Cid, data: Uint8Array): void {
    this.#young.set(cid.key, data)
  }
}
