/**
 * The index that a version 2 CAR may bring, read in place: digests in order, each with the offset of its section.
 *
 * Little endian: uvarint 0x0401; u32 number of hash functions; per function u64 code, u32 number of widths; per width
 * u32 width (digest + 8), u64 bytes of records; records [digest, u64 offset]. 0x0400 is the part from the number of widths
 * on, alone.
 * @see ipld/go-car v2/index/mhindexsorted.go MultihashIndexSorted, indexsorted.go multiWidthIndex
 */

import { equalBytes } from '../base/bytes.ts'
import { PetrelError } from '../base/errors.ts'
import { type ByteSource, readExactly } from '../codec/byteSource.ts'
import type { Cid } from '../codec/cid.ts'
import { IpldError } from '../ipld/errors.ts'
import {
  carError,
  HEADER_BYTES_V2,
  isYetToCome,
  PRAGMA_V2,
  parseHeaderV2,
  readCarHeader,
  readCarSection,
  readingAt,
} from './car.ts'
import { MAX_TABLES } from './limits.ts'
import type { OffsetIndex } from './soundBlock.ts'

const SORTED = 0x0400
const MULTIHASH_SORTED = 0x0401
const OFFSET_BYTES = 8
/** Steps of interpolation before plain halving: digests are spread evenly. */
const INTERPOLATIONS = 4
/** Records within which the rest is read at once. */
const NEAR = 16

interface Table {
  /** Undefined: any. */
  readonly hashCode: number | undefined
  readonly start: number
  readonly width: number
  readonly count: number
}

/** A record: what it says, and where it stands. */
interface IndexRecord {
  readonly digest: Uint8Array
  /** Of the section, in the version 1 archive. */
  readonly offset: number
  /** Byte of the file. */
  readonly at: number
}

function invalid(message: string, offset: number): IpldError {
  return new IpldError('INVALID_CAR', `Cannot read the index of the CAR: ${message} at byte ${offset}`, { offset })
}

function readTables(source: ByteSource, from: number): Table[] {
  let at = from
  const u32 = (): number => {
    const view = readExactly(source, at, 4)
    at += 4
    return new DataView(view.buffer, view.byteOffset).getUint32(0, true)
  }
  const u64 = (): number => {
    const low = u32()
    return low + u32() * 0x1_0000_0000
  }
  const tables: Table[] = []
  const widths = (hashCode: number | undefined): void => {
    for (let left = u32(); left > 0; left--) {
      const width = u32()
      const bytes = u64()
      if (width < OFFSET_BYTES || bytes % width !== 0 || at + bytes > source.size || tables.length >= MAX_TABLES)
        throw invalid('a table that cannot be', at)
      tables.push({ hashCode, start: at, width, count: bytes / width })
      at += bytes
    }
  }
  const codec = readExactly(source, at, 2)
  const number = ((codec[0] as number) & 0x7f) | ((codec[1] as number) << 7)
  at += 2
  if (number === SORTED) widths(undefined)
  else if (number === MULTIHASH_SORTED) {
    for (let left = u32(); left > 0; left--) {
      const code = u64()
      widths(code)
    }
  } else throw new IpldError('NOT_SUPPORTED', `not supported: an index of kind 0x${number.toString(16)}`)
  if (at !== source.size) throw invalid('something behind its tables', at)
  return tables
}

/**
 * Tables of digests in order, one for each hash function and width, searched in place.
 *
 * They have no sums. A damaged record leads a search to itself, or astray beside itself: where one ends without a block, the records
 * around that place must lead to blocks that have their digests.
 */
class CarV2Index implements OffsetIndex {
  readonly #source: ByteSource
  readonly #data: ByteSource
  readonly #tables: readonly Table[]

  /**
   * @param data - the version 1 archive inside
   * @throws IpldError `INVALID_CAR`: a table's ends are not of the archive
   */
  constructor(source: ByteSource, data: ByteSource, tables: readonly Table[]) {
    this.#source = source
    this.#data = data
    this.#tables = tables
    for (const table of tables) {
      if (table.count === 0) continue
      this.#assertSound(table, 0)
      this.#assertSound(table, table.count - 1)
    }
  }

  #record({ start, width }: Table, index: number): IndexRecord {
    const at = start + index * width
    const record = readExactly(this.#source, at, width)
    const digest = record.subarray(0, width - OFFSET_BYTES)
    const view = new DataView(record.buffer, record.byteOffset + digest.length, OFFSET_BYTES)
    return { digest, offset: Number(view.getBigUint64(0, true)), at }
  }

  #assertSound(table: Table, index: number): void {
    const { digest, offset, at } = this.#record(table, index)
    const section = readingAt(at, () => readCarSection(this.#data, offset))
    const isSame =
      section !== undefined &&
      equalBytes(section.cid.digest, digest) &&
      (table.hashCode === undefined || section.cid.hashCode === table.hashCode)
    if (!isSame) throw carError('a record of the index that leads to another block', at)
  }

  find<T>(cid: Cid, check: (offset: number) => T | undefined): T | undefined {
    const { digest } = cid
    for (const table of this.#tables) {
      if (table.width !== digest.length + OFFSET_BYTES) continue
      if (table.hashCode !== undefined && table.hashCode !== cid.hashCode) continue
      const found = this.#findIn(table, digest, check)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** It holds digests alone: blocks of two codecs may share one. */
  confuses(sought: Cid, found: Cid): boolean {
    return equalBytes(sought.digest, found.digest)
  }

  #findIn<T>(table: Table, digest: Uint8Array, check: (offset: number) => T | undefined): T | undefined {
    const { width, start } = table
    let low = 0
    let high = table.count
    let lowValue = 0
    let highValue = 0x1_0000_0000
    const wanted = head(digest)
    // The first record that is not below the digest lies in [low, high].
    for (let step = 0; high - low > NEAR; step++) {
      const share = step < INTERPOLATIONS && highValue > lowValue ? (wanted - lowValue) / (highValue - lowValue) : 0.5
      const middle = Math.min(high - 1, Math.max(low, low + Math.floor((high - low) * share)))
      const record = readExactly(this.#source, start + middle * width, digest.length)
      if (compare(record, digest) < 0) {
        low = middle + 1
        lowValue = head(record)
      } else {
        high = middle
        highValue = head(record)
      }
    }
    for (let at = low; at < table.count; at += NEAR) {
      const count = Math.min(NEAR, table.count - at)
      const records = readExactly(this.#source, start + at * width, count * width)
      for (let i = 0; i < count; i++) {
        const record = records.subarray(i * width, i * width + digest.length)
        const order = compare(record, digest)
        if (order > 0) return this.#assertMissing(table, at + i)
        if (order < 0) continue
        const view = new DataView(records.buffer, records.byteOffset + i * width + digest.length, OFFSET_BYTES)
        const offset = Number(view.getBigUint64(0, true))
        if (offset >= this.#data.size)
          throw carError('a record of the index that leads to no data', start + (at + i) * width)
        const found = check(offset)
        if (found !== undefined) return found
      }
    }
    return this.#assertMissing(table, table.count)
  }

  /** @param above - the first record above what was sought */
  #assertMissing(table: Table, above: number): undefined {
    if (above > 0) this.#assertSound(table, above - 1)
    if (above < table.count) this.#assertSound(table, above)
  }
}

function head(bytes: Uint8Array): number {
  return (bytes[0] ?? 0) * 0x1000000 + (((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0))
}

function compare(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < b.length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * The index of a version 2 archive; undefined where it has none, or one that cannot be used.
 * Offsets count bytes of the version 1 archive inside.
 */
export function readCarV2Index(source: ByteSource): OffsetIndex | undefined {
  const head = source.read(0, PRAGMA_V2.length + HEADER_BYTES_V2)
  if (head.length < PRAGMA_V2.length + HEADER_BYTES_V2) return undefined
  if (!equalBytes(head.subarray(0, PRAGMA_V2.length), PRAGMA_V2)) return undefined
  const { indexOffset } = parseHeaderV2(head.subarray(PRAGMA_V2.length))
  if (indexOffset === 0 || indexOffset >= source.size) return undefined
  try {
    return new CarV2Index(source, readCarHeader(source).source, readTables(source, indexOffset))
  } catch (error) {
    if (!(error instanceof PetrelError) || isYetToCome(error)) throw error
    // It is only a help: where it is damaged the archive is indexed as if it had none.
    return undefined
  }
}
