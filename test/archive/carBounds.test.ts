/** Bounds of what a CAR can make its reader hold: each at the bound, and one above. */
import { beforeAll, expect, it } from 'vitest'
import {
  carBytes,
  carSectionHead,
  HEADER_BYTES_V2,
  nextCarSection,
  PRAGMA_V2,
  readCarBlock,
  readCarHeader,
  readCarSection,
} from '../../src/archive/car.ts'
import { CarScanner } from '../../src/archive/carScanner.ts'
import { readCarV2Index } from '../../src/archive/carV2Index.ts'
import { MAX_HEADER_BYTES, MAX_SECTION_BYTES, MAX_TABLES } from '../../src/archive/limits.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import { type ByteSource, memorySource } from '../../src/codec/byteSource.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'

const DATA = Uint8Array.of(1, 2, 3)
let cid: Cid

beforeAll(async () => {
  await initCrypto()
  cid = blockCid(DATA, CODEC_RAW)
})

/** What a scanner tells of bytes: each large section, by how many bytes its data have. */
function scan(bytes: Uint8Array): number[] {
  const large: number[] = []
  const scanner = new CarScanner({
    header: () => undefined,
    section: () => undefined,
    large: (_, dataLength) => {
      large.push(dataLength)
      return { write: () => undefined, end: () => undefined }
    },
  })
  scanner.push(bytes)
  return large
}

it('a header of the longest is read, of a byte more not', () => {
  const headerOf = (length: number): Uint8Array => {
    const padded = (bytes: number): Uint8Array => {
      const writer = new CborWriter()
      writer.map(3)
      writer.text('pad')
      writer.bytes(new Uint8Array(bytes))
      writer.text('roots')
      writer.array(1)
      writer.cid(cid)
      writer.text('version')
      writer.uint(1)
      return writer.finish()
    }
    const header = padded(2 * length - padded(length).length)
    expect(header.length).toBe(length)
    return concatBytes(varintBytes(length), header)
  }
  const most = headerOf(MAX_HEADER_BYTES)
  expect(readCarHeader(memorySource(most)).roots.map(String)).toEqual([String(cid)])
  expect(scan(most)).toEqual([])
  const longer = headerOf(MAX_HEADER_BYTES + 1)
  const refusal = `a length of ${MAX_HEADER_BYTES + 1} bytes (at most ${MAX_HEADER_BYTES})`
  expect(() => readCarHeader(memorySource(longer))).toThrow(refusal)
  expect(() => scan(longer)).toThrow(refusal)
})

it('a section of the longest is read, of a byte more not; nothing is taken for what its length says', () => {
  const headOf = (length: number): Uint8Array => carSectionHead(cid, length - cid.length)
  /** Has only the beginning of a section, and says how much of it is wanted. */
  const begun = (length: number): ByteSource & { readonly wanted: number[] } => {
    const wanted: number[] = []
    const read = (offset: number, count: number): Uint8Array => {
      wanted.push(count)
      return concatBytes(headOf(length), new Uint8Array(4096)).subarray(offset, offset + count)
    }
    return { size: 2 * MAX_SECTION_BYTES, read, wanted }
  }
  const dataLength = MAX_SECTION_BYTES - cid.length
  const most = begun(MAX_SECTION_BYTES)
  expect(readCarSection(most, 0)).toMatchObject({ offset: 0, dataLength })
  expect(nextCarSection(most, 0)).toBe(headOf(MAX_SECTION_BYTES).length + dataLength)
  expect(() => readCarBlock(most, 0, cid)).toThrow('the source ends')
  expect(most.wanted.at(-1)).toBe(dataLength)
  const start = carBytes([cid], [])
  expect(scan(concatBytes(start, most.read(0, 1024)))).toEqual([dataLength])

  const longer = begun(MAX_SECTION_BYTES + 1)
  const refusal = `a length of ${MAX_SECTION_BYTES + 1} bytes (at most ${MAX_SECTION_BYTES})`
  expect(() => readCarSection(longer, 0)).toThrow(refusal)
  expect(() => nextCarSection(longer, 0)).toThrow(refusal)
  expect(() => readCarBlock(longer, 0, cid)).toThrow(`a section of ${MAX_SECTION_BYTES + 1} bytes`)
  expect(Math.max(...longer.wanted)).toBeLessThanOrEqual(4096)
  expect(() => scan(concatBytes(start, longer.read(0, 1024)))).toThrow(refusal)
})

it('an index of so many tables is used; one of more is not, as if there were none', () => {
  const archive = carBytes([cid], [[cid, DATA]])
  const dataOffset = PRAGMA_V2.length + HEADER_BYTES_V2
  const header = new Uint8Array(HEADER_BYTES_V2)
  const view = new DataView(header.buffer)
  view.setBigUint64(16, BigInt(dataOffset), true)
  view.setBigUint64(24, BigInt(archive.length), true)
  view.setBigUint64(32, BigInt(dataOffset + archive.length), true)
  /** Of a width, with these records. */
  const table = (width: number, records: Uint8Array): Uint8Array => {
    const head = new DataView(new ArrayBuffer(12))
    head.setUint32(0, width, true)
    head.setBigUint64(4, BigInt(records.length), true)
    return concatBytes(new Uint8Array(head.buffer), records)
  }
  const section = archive.length - carSectionHead(cid, DATA.length).length - DATA.length
  const offset = new DataView(new ArrayBuffer(8))
  offset.setBigUint64(0, BigInt(section), true)
  const record = table(cid.digest.length + 8, concatBytes(cid.digest, new Uint8Array(offset.buffer)))
  const indexOf = (tables: number) => {
    const count = new DataView(new ArrayBuffer(4))
    count.setUint32(0, tables, true)
    const empty = Array.from({ length: tables - 1 }, () => table(8, new Uint8Array(0)))
    const index = concatBytes(varintBytes(0x0400), new Uint8Array(count.buffer), ...empty, record)
    return readCarV2Index(memorySource(concatBytes(PRAGMA_V2, header, archive, index)))
  }
  expect(indexOf(MAX_TABLES)?.find(cid, (at) => at)).toBe(section)
  expect(indexOf(MAX_TABLES + 1)).toBeUndefined()
})
