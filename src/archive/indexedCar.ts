import { type ByteSource, readAhead } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import type { NodeCache } from '../ipld/nodeCache.ts'
import { isBlockOf, verifyBlock } from '../ipld/verifyBlock.ts'
import { type CarHeader, carSections, readCarBlock } from './car.ts'
import { type ArchiveStore, refuseWrite } from './carStore.ts'

/** Finds offsets: {@link HashIndex}, or the index that a version 2 archive brings. */
export interface OffsetIndex {
  /**
   * The first result of `check` that is not undefined, over the offsets that may be the CID's.
   * @param check - looks at an offset; undefined when the CID is not there
   */
  find<T>(cid: Cid, check: (offset: number) => T | undefined): T | undefined
}

/** A plain CAR, version 1 or 2, read in place through an index on disk: nothing of it is in memory. */
export class IndexedCarStore implements ArchiveStore {
  readonly roots: readonly Cid[]
  readonly nodes?: NodeCache
  readonly #header: CarHeader
  readonly #source: ByteSource
  readonly #index: OffsetIndex
  readonly #verify: boolean

  /**
   * @param header - what {@link readCarHeader} gave
   * @param index - offsets of sections in the version 1 archive
   * @param verify - whether blocks are hashed when they are read: not where the index was made by hashing them all
   */
  constructor(header: CarHeader, index: OffsetIndex, verify: boolean, nodes?: NodeCache) {
    this.roots = header.roots
    this.#header = header
    this.#source = header.source
    this.#index = index
    this.#verify = verify
    if (nodes !== undefined) this.nodes = nodes
  }

  get(cid: Cid): Uint8Array | undefined {
    const data = this.#index.find(cid, (offset) => readCarBlock(this.#source, offset, cid))
    if (data !== undefined && this.#verify && !isBlockOf(cid, data)) verifyBlock(cid, data)
    return data
  }

  has(cid: Cid): boolean {
    return this.#index.find(cid, (offset) => readCarBlock(this.#source, offset, cid)) !== undefined
  }

  put(): never {
    return refuseWrite()
  }

  *cids(): IterableIterator<Cid> {
    for (const section of carSections({ ...this.#header, source: readAhead(this.#source) })) yield section.cid
  }
}
