/** A CAR archive as a read-only block store: an index of offsets, no copies of blocks. */
import { type ByteSource, placeIn, readAhead, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { IpldError } from '../ipld/errors.ts'
import type { NodeCache } from '../ipld/nodeCache.ts'
import { verifyBlock } from '../ipld/verifyBlock.ts'
import { carSections, readCarBlock, readCarHeader, readingAt } from './car.ts'
import { CidIndex } from './cidIndex.ts'
import { findSound } from './soundBlock.ts'

/** A block store that came from a file, with the roots that the file names. */
export interface ArchiveStore extends Blockstore {
  readonly roots: readonly Cid[]
  /** All CIDs in file order, repeats included. */
  cids(): Iterable<Cid>
}

/** How an archive is opened. */
export interface CarStoreOptions {
  /**
   * When blocks are hashed: all while the file is indexed, each when it is read, both (a file that is served in place and may be damaged
   * later), or never (a file that this node wrote itself).
   */
  readonly verify: 'open' | 'read' | 'always' | 'never'
  readonly nodes?: NodeCache
}

/** Refuses a write to a read-only store. */
export function refuseWrite(): never {
  throw new IpldError('READ_ONLY', 'Cannot write a block: the archive is read-only')
}

/** An archive whose offsets are in memory: for those of a size that allows it. */
export class CarStore implements ArchiveStore {
  readonly roots: readonly Cid[]
  readonly nodes?: NodeCache
  readonly #source: ByteSource
  readonly #start: number
  readonly #index = new CidIndex()
  readonly #verifyReads: boolean

  /**
   * Reads the whole archive once to index it.
   * @throws IpldError `INVALID_CAR`
   */
  constructor(input: ByteSource, options: CarStoreOptions) {
    const header = readCarHeader(input)
    this.roots = header.roots
    this.#source = header.source
    this.#start = header.start
    this.#verifyReads = options.verify === 'read' || options.verify === 'always'
    if (options.nodes !== undefined) this.nodes = options.nodes
    const source = readAhead(header.source)
    for (const section of carSections({ ...header, source })) {
      if (options.verify === 'open' || options.verify === 'always') {
        readingAt(placeIn(source, section.offset), () =>
          verifyBlock(section.cid, readExactly(source, section.dataOffset, section.dataLength)),
        )
      }
      this.#index.add(section.cid, section.offset)
    }
  }

  /** Number of sections. */
  get size(): number {
    return this.#index.size
  }

  get(cid: Cid): Uint8Array | undefined {
    if (this.#verifyReads) return findSound(this.#source, this.#index, cid, true)
    return this.#index.find(cid, (offset) => readCarBlock(this.#source, offset, cid))
  }

  has(cid: Cid): boolean {
    if (this.#verifyReads) return findSound(this.#source, this.#index, cid, false) !== undefined
    return this.#index.find(cid, (offset) => readCarBlock(this.#source, offset, cid)) !== undefined
  }

  put(): never {
    return refuseWrite()
  }

  *cids(): IterableIterator<Cid> {
    const source = readAhead(this.#source)
    for (const section of carSections({ roots: this.roots, source, start: this.#start })) yield section.cid
  }
}
