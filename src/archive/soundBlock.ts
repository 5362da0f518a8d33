/** Blocks of a CAR found through an index of offsets, damage told. */
import { type ByteSource, placeIn, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import { verifyBlock } from '../ipld/verifyBlock.ts'
import { carError, readCarBlock, readCarSection, readingAt } from './car.ts'

/** Finds offsets: the index on disk, the one in memory, or that which a version 2 archive brings. */
export interface OffsetIndex {
  /**
   * The first result of `check` that is not undefined, over the offsets that may be the CID's.
   * @param check - looks at an offset; undefined when the CID is not there
   * @throws IpldError `INVALID_CAR` with the byte, by an index that has no sums: it is damaged where the CID may be
   */
  find<T>(cid: Cid, check: (offset: number) => T | undefined): T | undefined
  /** Whether it leads from `sought` to where `found` is: both look the same to it. */
  confuses(sought: Cid, found: Cid): boolean
}

/**
 * The data of a block, undefined where the archive does not have it.
 * @param verify - whether it is hashed
 * @throws IpldError `INVALID_CAR` with the byte: the archive is not what the index was made of
 */
export function findSound(source: ByteSource, index: OffsetIndex, cid: Cid, verify: boolean): Uint8Array | undefined {
  return index.find(cid, (offset) =>
    readingAt(placeIn(source, offset), () => {
      const data = readCarBlock(source, offset, cid)
      if (data === undefined) return assertOther(source, index, cid, offset)
      if (verify) verifyBlock(cid, data)
      return data
    }),
  )
}

/** Another CID's section, which an index by hashes may lead to, is told from a damaged one. */
function assertOther(source: ByteSource, index: OffsetIndex, sought: Cid, offset: number): undefined {
  const section = readCarSection(source, offset)
  if (section === undefined) throw carError('no section', placeIn(source, offset))
  verifyBlock(section.cid, readExactly(source, section.dataOffset, section.dataLength))
  // The hash says nothing of the codec.
  if (!index.confuses(sought, section.cid))
    throw carError('a block that is not what the index has there', placeIn(source, offset))
}
