/**
 * Flipped bits in the index that an archive brings: Forest's, and that of a CAR of version 2. Neither has sums. Each block is read as it is, or
 * damage is told with the byte of the file; no block that is there is said to be missing.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { readCarHeader } from '../../src/archive/car.ts'
import type { ArchiveStore } from '../../src/archive/carStore.ts'
import { readCarV2Index } from '../../src/archive/carV2Index.ts'
import { ForestCarStore, forestIndexOffset, isForestCar } from '../../src/archive/forestCar.ts'
import { hashCid, idealSlot } from '../../src/archive/hashIndex.ts'
import { IndexedCarStore } from '../../src/archive/indexedCar.ts'
import { decompressZstd, portableZstd, type ZstdDecoder } from '../../src/archive/zstd.ts'
import { concatBytes, equalBytes, toHex } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, createCid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { IpldError } from '../../src/ipld/errors.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared, readShared } from '../support/shared.ts'

const missing = missingShared('data/snapshots')
const { int, bytes: randomBytes } = seeded('flipped bits of an index')
const BITS = 8
/** Flips at random, beside all bits of what comes before the records and behind them. */
const FLIPS = 600
/** Blocks on either side of a flip, by their order in the index, that are read after it; others at random. */
const NEAR = 40
const OTHERS = 20

beforeAll(() => initCrypto())

/** The bit that was flipped hides nothing; reads that told of damage. */
function told(size: number, read: () => boolean): number {
  try {
    expect(read()).toBe(true)
    return 0
  } catch (error) {
    if (!(error instanceof IpldError)) throw error
    expect(error.code).toBe('INVALID_CAR')
    const byte = Number(/^Cannot read CAR: .* at byte (\d+)$/.exec(error.message)?.[1] ?? Number.NaN)
    expect(byte, error.message).toBeLessThan(size)
    return 1
  }
}

/** What a run of flips is made of. */
interface Flipping {
  readonly content: Uint8Array
  readonly first: number
  /** Where records begin, and end. */
  readonly records: number
  readonly end: number
  /** In the order of the records. */
  readonly cids: readonly Cid[]
  /** Where in that order the record at a byte of the file is, about. */
  readonly orderAt: (byte: number) => number
  /** Undefined: an index of another kind, which is not used. */
  readonly open: (content: Uint8Array) => ArchiveStore | undefined
}

interface Counts {
  flips: number
  opening: number
  reading: number
}

function flipAll({ content, first, records, end, cids, orderAt, open }: Flipping): Counts {
  const whole = open(content) as ArchiveStore
  const data = cids.map((cid) => whole.get(cid) as Uint8Array)
  // Undamaged, it says of what is not there that it is not there.
  for (let i = 0; i < FLIPS; i++) expect(whole.get(blockCid(randomBytes(8)))).toBeUndefined()
  const counts = { flips: 0, opening: 0, reading: 0 }
  const bits: number[] = []
  for (let bit = first * BITS; bit < records * BITS; bit++) bits.push(bit)
  for (let bit = end * BITS; bit < content.length * BITS; bit++) bits.push(bit)
  for (let i = 0; i < FLIPS; i++) bits.push(records * BITS + int((end - records) * BITS))
  for (const bit of bits) {
    counts.flips++
    const changed = content.slice()
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    let store: ArchiveStore | undefined
    const failed = told(content.length, () => {
      store = open(changed)
      return true
    })
    if (store === undefined) {
      counts.opening++
      continue
    }
    expect(failed).toBe(0)
    const opened = store
    const order = orderAt(bit >> 3)
    const asked = new Set(Array.from({ length: OTHERS }, () => int(cids.length)))
    for (let n = Math.max(0, order - NEAR); n < Math.min(cids.length, order + NEAR); n++) asked.add(n)
    let damaged = 0
    for (const n of asked) {
      const [cid, expected] = [cids[n] as Cid, data[n] as Uint8Array]
      damaged += told(content.length, () => equalBytes(opened.get(cid) ?? new Uint8Array(0), expected))
      damaged += told(content.length, () => opened.has(cid))
      const other = cid.digest.slice()
      other[other.length - 1] = (other[other.length - 1] as number) ^ 1
      damaged += told(content.length, () => opened.get(createCid(cid.codec, cid.hashCode, other)) === undefined)
    }
    damaged += told(content.length, () => opened.get(blockCid(randomBytes(8))) === undefined)
    if (damaged > 0) counts.reading++
  }
  return counts
}

describe.skipIf(missing)('a flipped bit in the index of an archive', () => {
  it("that is Forest's hides no block", () => {
    const content = readShared('data/snapshots/chain4.forest.car.zst')
    const view = new DataView(content.buffer, content.byteOffset)
    const first = forestIndexOffset(memorySource(content))
    const buckets = Number(view.getBigUint64(first + 8 + 24, true))
    const hashes = [...new ForestCarStore(memorySource(content)).cids()].map((cid) => ({ cid, ...hashCid(cid) }))
    hashes.sort((a, b) => a.high - b.high || a.low - b.low)
    const ideals = hashes.map(({ high, low }) => idealSlot(high, low, buckets))
    // The frames are the same in every copy.
    const frames = new Map<number, Uint8Array>()
    const decoder: ZstdDecoder = (data, size) => {
      const at = data.byteOffset
      const known = frames.get(at) ?? portableZstd(data, size)
      frames.set(at, known)
      return known
    }
    const records = first + 8 + 32
    const counts = flipAll({
      ...{ content, first, records, end: content.length - 16, cids: hashes.map(({ cid }) => cid) },
      orderAt: (byte) => {
        const slot = Math.floor((byte - records) / 16)
        const found = ideals.findIndex((ideal) => ideal >= slot)
        return found < 0 ? ideals.length : found
      },
      open: (bytes) => {
        const source = memorySource(bytes)
        return isForestCar(source) ? new ForestCarStore(source, decoder) : undefined
      },
    })
    console.log(JSON.stringify(counts))
    expect(counts.opening).toBeGreaterThan(100)
    // Four slots of five are full, and hold 16 bytes that all matter.
    expect(counts.reading).toBeGreaterThan(FLIPS / 2)
  }, 120_000)

  it('of version 2 hides no block', () => {
    const content = Uint8Array.from(decompressZstd(memorySource(readShared('data/snapshots/carv2.car.zst')), 1 << 24))
    const first = Number(new DataView(content.buffer).getBigUint64(11 + 32, true))
    const whole = new IndexedCarStore(readCarHeader(memorySource(content)), readCarV2Index(memorySource(content))!)
    const cids = [...whole.cids()].filter((cid) => !cid.isIdentity)
    const key = (cid: Cid): string => toHex(concatBytes(Uint8Array.of(cid.hashCode === 0xb220 ? 1 : 0), cid.digest))
    cids.sort((a, b) => (key(a) < key(b) ? -1 : 1))
    const counts = flipAll({
      ...{ content, first, records: first + 2 + 4 + 8 + 4 + 12, end: content.length, cids },
      orderAt: (byte) => Math.floor((byte - first) / 40),
      open: (bytes) => {
        const index = readCarV2Index(memorySource(bytes))
        return index === undefined ? undefined : new IndexedCarStore(readCarHeader(memorySource(bytes)), index)
      },
    })
    console.log(JSON.stringify(counts))
    expect(counts.opening).toBeGreaterThan(50)
    expect(counts.reading).toBeGreaterThan(FLIPS / 2)
  }, 120_000)
})
