import { type ByteSource, readAhead } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import type { NodeCache } from '../ipld/nodeCache.ts'
import { type CarHeader, carSections } from './car.ts'
import { type ArchiveStore, refuseWrite } from './carStore.ts'
import { findSound, type OffsetIndex } from './soundBlock.ts'

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
    return findSound(this.#source, this.#index, cid, true)
  }

  /** @throws as {@link IndexedCarStore.get} */
  has(cid: Cid): boolean {
    return findSound(this.#source, this.#index, cid, false) !== undefined
  }

  put(): never {
    return refuseWrite()
  }

  *cids(): IterableIterator<Cid> {
    for (const section of carSections({ ...this.#header, source: readAhead(this.#source) })) yield section.cid
  }
}
