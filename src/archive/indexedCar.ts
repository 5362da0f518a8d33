import { type ByteSource, placeIn, readAhead, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import type { NodeCache } from '../ipld/nodeCache.ts'
import { verifyBlock } from '../ipld/verifyBlock.ts'
import { type CarHeader, carError, carSections, readCarBlock, readCarSection, readingAt } from './car.ts'
import { type ArchiveStore, refuseWrite } from './carStore.ts'

/** Finds offsets: {@link HashIndex}, or the index that a version 2 archive brings. */
export interface OffsetIndex {
  /**
   * The first result of `check` that is not undefined, over the offsets that may be the CID's.
   * @param check - looks at an offset; undefined when the CID is not there
   */
  find<T>(cid: Cid, check: (offset: number) => T | undefined): T | undefined
  /** Whether it leads from `sought` to where `found` is: both look the same to it. */
  confuses(sought: Cid, found: Cid): boolean
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

  /** @throws IpldError `INVALID_CAR` with the byte: the archive is not what the index was made of */
  get(cid: Cid): Uint8Array | undefined {
    return this.#find(cid, true)
  }

  /** @throws as {@link IndexedCarStore.get} */
  has(cid: Cid): boolean {
    return this.#find(cid, false) !== undefined
  }

  #find(cid: Cid, verify: boolean): Uint8Array | undefined {
    return this.#index.find(cid, (offset) =>
      readingAt(placeIn(this.#source, offset), () => {
        const data = readCarBlock(this.#source, offset, cid)
        if (data === undefined) return this.#assertSound(offset, cid)
        if (verify) verifyBlock(cid, data)
        return data
      }),
    )
  }

  /** Another CID's section, which an index by hashes may lead to, is told from a damaged one. */
  #assertSound(offset: number, sought: Cid): undefined {
    const section = readCarSection(this.#source, offset)
    if (section === undefined) throw carError('no section', placeIn(this.#source, offset))
    verifyBlock(section.cid, readExactly(this.#source, section.dataOffset, section.dataLength))
    // The hash says nothing of the codec.
    if (!this.#index.confuses(sought, section.cid))
      throw carError('a block that is not what the index has there', placeIn(this.#source, offset))
  }

  put(): never {
    return refuseWrite()
  }

  *cids(): IterableIterator<Cid> {
    for (const section of carSections({ ...this.#header, source: readAhead(this.#source) })) yield section.cid
  }
}
