import { type ByteSource, readAhead, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import type { NodeCache } from '../ipld/nodeCache.ts'
import { isBlockOf, verifyBlock } from '../ipld/verifyBlock.ts'
import { type CarHeader, carError, carSections, readCarBlock, readCarSection } from './car.ts'
import { type ArchiveStore, refuseWrite } from './carStore.ts'

/** Finds offsets: {@link HashIndex}, or the index that a version 2 archive brings. */
export interface OffsetIndex {
  /**
   * The first result of `check` that is not undefined, over the offsets that may be the CID's.
   * @param check - looks at an offset; undefined when the CID is not there
   */
  find<T>(cid: Cid, check: (offset: number) => T | undefined): T | undefined
}

/** A plain CAR, version 1 or 2, read in place through an index on disk: nothing of it is in memory. Blocks are hashed as they are read. */
export class IndexedCarStore implements ArchiveStore {
  readonly roots: readonly Cid[]
  readonly nodes?: NodeCache
  readonly #header: CarHeader
  readonly #source: ByteSource
  readonly #index: OffsetIndex

  /**
   * @param header - what {@link readCarHeader} gave
   * @param index - offsets of sections in the version 1 archive
   */
  constructor(header: CarHeader, index: OffsetIndex, nodes?: NodeCache) {
    this.roots = header.roots
    this.#header = header
    this.#source = header.source
    this.#index = index
    if (nodes !== undefined) this.nodes = nodes
  }

  /** @throws IpldError `CID_MISMATCH`, `INVALID_CAR`: the archive is not what the index was made of */
  get(cid: Cid): Uint8Array | undefined {
    const data = this.#find(cid)
    if (data !== undefined && !isBlockOf(cid, data)) verifyBlock(cid, data)
    return data
  }

  /** @throws as {@link IndexedCarStore.get} */
  has(cid: Cid): boolean {
    return this.#find(cid) !== undefined
  }

  #find(cid: Cid): Uint8Array | undefined {
    return this.#index.find(cid, (offset) => readCarBlock(this.#source, offset, cid) ?? this.#assertSound(offset))
  }

  /** Another CID's section, which an index by hashes may lead to, is told from a damaged one. */
  #assertSound(offset: number): undefined {
    const section = readCarSection(this.#source, offset)
    if (section === undefined) throw carError('no section', offset)
    verifyBlock(section.cid, readExactly(this.#source, section.dataOffset, section.dataLength))
  }

  put(): never {
    return refuseWrite()
  }

  *cids(): IterableIterator<Cid> {
    for (const section of carSections({ ...this.#header, source: readAhead(this.#source) })) yield section.cid
  }
}
