/** @see ref-fvm fvm/src/ipld/mod.rs tests: the same inputs, links and counts */
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../../src/base/bytes.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import {
  type Cid,
  CODEC_CBOR,
  CODEC_DAG_CBOR,
  CODEC_FIL_COMMITMENT_UNSEALED,
  CODEC_RAW,
  createCid,
  HASH_BLAKE2B_256,
  HASH_IDENTITY,
} from '../../../src/codec/cid.ts'
import { blake2b256 } from '../../../src/crypto/blake2b.ts'
import type { PriceList } from '../../../src/fvm/gas/priceList.ts'
import { priceListAt } from '../../../src/fvm/gas/priceListAt.ts'
import { GasTracker } from '../../../src/fvm/gas/tracker.ts'
import { scanReachableLinks } from '../../../src/fvm/kernel/linkScan.ts'
import { Errno, OutOfGas, SyscallError } from '../../../src/fvm/kernel/outcomes.ts'

const DIGEST = blake2b256(utf8('foobar'))
const RAW_LINK = createCid(CODEC_RAW, HASH_BLAKE2B_256, DIGEST)
const PRICES: PriceList = { ...priceListAt(21), scanPerField: 1000, scanPerCid: 65_536_000 }

/** [0, link, 1] */
function listWith(link: Cid): Uint8Array {
  const writer = new CborWriter()
  writer.array(3)
  writer.uint(0)
  writer.cid(link)
  writer.uint(1)
  return writer.finish()
}

/** Scans with exactly the gas that so many items and links cost. */
function scan(codec: number, data: Uint8Array, fields: number, cids: number): string[] {
  const gas = new GasTracker(BigInt(fields + cids * 65_536))
  try {
    return scanReachableLinks(codec, data, PRICES, gas).map(String)
  } finally {
    expect(gas.isExhausted).toBe(true)
  }
}

function errnoOf(run: () => unknown): number | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof SyscallError) return error.errno
    throw error
  }
  return undefined
}

function scanFreely(data: readonly number[] | Uint8Array): number | undefined {
  return errnoOf(() => scanReachableLinks(CODEC_DAG_CBOR, Uint8Array.from(data), PRICES, new GasTracker(10n ** 10n)))
}

describe('link scan', () => {
  it('looks into DAG-CBOR only', () => {
    const data = listWith(RAW_LINK)
    expect(scan(CODEC_DAG_CBOR, data, 4, 1)).toEqual([String(RAW_LINK)])
    expect(scan(CODEC_CBOR, data, 0, 0)).toEqual([])
    expect(scan(CODEC_RAW, Uint8Array.of(1, 2, 3), 0, 0)).toEqual([])
    expect(() => scan(CODEC_DAG_CBOR, data, 4, 0)).toThrow(OutOfGas)
  })

  it('looks into identity CIDs, at the same prices', () => {
    const inline = createCid(CODEC_DAG_CBOR, HASH_IDENTITY, listWith(RAW_LINK))
    expect(scan(CODEC_DAG_CBOR, listWith(inline), 8, 2)).toEqual([String(RAW_LINK)])
  })

  it('skips commitments of sectors', () => {
    const piece = createCid(CODEC_FIL_COMMITMENT_UNSEALED, HASH_BLAKE2B_256, DIGEST)
    expect(scan(CODEC_DAG_CBOR, listWith(piece), 4, 1)).toEqual([])
  })

  it('refuses links that no block can have', () => {
    expect(scanFreely(listWith(createCid(0x70, HASH_BLAKE2B_256, DIGEST)))).toBe(Errno.NotFound)
    expect(scanFreely(listWith(createCid(CODEC_DAG_CBOR, 0x12, DIGEST)))).toBe(Errno.NotFound)
    expect(scanFreely(listWith(createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, DIGEST.slice(1))))).toBe(Errno.NotFound)
  })

  it('reads codes of 64 bits, and no longer numbers', () => {
    const DIGEST_BYTES = [...DIGEST]
    const link = (...head: number[]): number[] => [0xd8, 0x2a, 0x58, head.length + 33, 0, ...head, ...DIGEST_BYTES]
    const wide = (first: number, tenth: number): number[] => [first | 0x80, ...new Array<number>(8).fill(0x80), tenth]
    const blake = [0xa0, 0xe4, 0x02, 0x20]
    const unsealed = [0x81, 0xe2, 0x03]
    // 2^53 and 2^63
    expect(scanFreely(link(1, ...new Array<number>(7).fill(0x80), 0x10, ...blake))).toBe(Errno.NotFound)
    expect(scanFreely(link(1, ...wide(0, 1), ...blake))).toBe(Errno.NotFound)
    expect(scanFreely(link(1, 0x71, ...new Array<number>(7).fill(0x80), 0x10, 0x20))).toBe(Errno.NotFound)
    // Links of commitments are not looked at, whatever made their digest.
    expect(scanFreely(link(1, ...unsealed, ...new Array<number>(7).fill(0x80), 0x10, 0x20))).toBeUndefined()
    expect(scanFreely(link(1, ...unsealed, ...wide(0x7f, 1), 0x20))).toBeUndefined()
    // 2^64 + 0x71 is 0x71.
    const links = scanReachableLinks(
      CODEC_DAG_CBOR,
      Uint8Array.from(link(1, ...wide(0x71, 2), ...blake)),
      PRICES,
      new GasTracker(10n ** 10n),
    )
    expect(links.map(String)).toEqual([String(createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, DIGEST))])
    expect(scanFreely(link(1, ...wide(0x71, 0), ...blake))).toBe(Errno.Serialization)
    expect(scanFreely(link(1, ...wide(0x71, 0x80), 1, ...blake))).toBe(Errno.Serialization)
    expect(scanFreely([...link(1, 0x71, ...blake).with(3, 40), 0])).toBe(Errno.Serialization)
  })

  it('is as lenient as the reference: long forms, any keys, unknown tags', () => {
    expect(scanFreely([0x18, 0x01])).toBeUndefined()
    expect(scanFreely([0x1b, 0, 0, 0, 0, 0, 0, 0, 1])).toBeUndefined()
    expect(scanFreely([0xa2, 0x02, 0x00, 0x01, 0x00])).toBeUndefined()
    expect(scanFreely([0xc1, 0x00])).toBeUndefined()
    expect(scanFreely([0xf9, 0x3c, 0x00])).toBeUndefined()
  })

  it('counts items in 64 bits, beyond which it is charged for nothing more', () => {
    const fieldsOf = (data: readonly number[]): number => {
      const gas = new GasTracker(10n ** 10n)
      const run = (): unknown => scanReachableLinks(CODEC_DAG_CBOR, Uint8Array.from(data), PRICES, gas)
      expect(errnoOf(run)).toBe(Errno.Serialization)
      return gas.used / PRICES.scanPerField
    }
    const most = [0x9b, ...new Array<number>(8).fill(0xff)]
    expect(fieldsOf(most)).toBe(2)
    expect(fieldsOf([...most, 1, 2, 3, 4, 5])).toBe(7)
    expect(fieldsOf([0x81, ...most])).toBe(3)
    expect(fieldsOf([0x82, ...most])).toBe(2)
    expect(fieldsOf([...most, 0x81])).toBe(3)
    expect(fieldsOf([...most, 0x82])).toBe(2)
    const items = (major: number, count: bigint): number[] => {
      const head = new Uint8Array(9)
      head[0] = (major << 5) | 27
      new DataView(head.buffer).setBigUint64(1, count)
      return [...head]
    }
    const [array, map] = [4, 5]
    expect(fieldsOf(items(map, 2n ** 63n - 1n))).toBe(2)
    expect(fieldsOf(items(map, 2n ** 63n))).toBe(1)
    expect(fieldsOf([...items(array, 2n ** 63n), ...items(array, 2n ** 63n)])).toBe(3)
    expect(fieldsOf([...items(array, 2n ** 63n), ...items(array, 2n ** 63n + 1n)])).toBe(2)
    expect(fieldsOf([...items(array, 2n ** 53n - 1n), ...items(array, 2n ** 64n - 2n ** 53n + 1n)])).toBe(3)
    expect(fieldsOf([...items(array, 2n ** 53n - 1n), ...items(array, 2n ** 64n - 2n ** 53n + 2n)])).toBe(2)
  })

  it('and as strict', () => {
    expect(scanFreely([])).toBe(Errno.Serialization)
    expect(scanFreely([0x00, 0x00])).toBe(Errno.Serialization)
    expect(scanFreely([0x9f, 0xff])).toBe(Errno.Serialization)
    expect(scanFreely([0x42, 0x00])).toBe(Errno.Serialization)
    expect(scanFreely([0x82, 0x00])).toBe(Errno.Serialization)
    expect(scanFreely([0xd8, 0x2a, 0x61, 0x00])).toBe(Errno.Serialization)
    expect(scanFreely([0xd8, 0x2a, 0x41, 0x01])).toBe(Errno.Serialization)
    expect(scanFreely([0xd8, 0x2a, 0x40])).toBe(Errno.Serialization)
    expect(scanFreely([0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])).toBe(Errno.Serialization)
  })
})
