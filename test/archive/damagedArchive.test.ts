/**
 * Flipped bits and torn ends in an archive itself, at every kind of place and at random: what is read there is told as damage of the archive
 * with the byte of the file, whatever part was hit; every other block is read as before, and none is said to be missing.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type CarSection,
  carBytes,
  carSections,
  HEADER_BYTES_V2,
  PRAGMA_V2,
  readCarHeader,
} from '../../src/archive/car.ts'
import { type ArchiveStore, CarStore } from '../../src/archive/carStore.ts'
import { ForestCarStore, forestIndexOffset } from '../../src/archive/forestCar.ts'
import { IndexedCarStore } from '../../src/archive/indexedCar.ts'
import type { OffsetIndex } from '../../src/archive/soundBlock.ts'
import { portableZstd } from '../../src/archive/zstd.ts'
import { zstdFrames } from '../../src/archive/zstdFrames.ts'
import { concatBytes, equalBytes } from '../../src/base/bytes.ts'
import { type ByteSource, memorySource, placeIn } from '../../src/codec/byteSource.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { IpldError } from '../../src/ipld/errors.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared, readShared } from '../support/shared.ts'

const { int, bytes: randomBytes } = seeded('damaged archives')
const FLIPS = 200
const BITS = 8

let blocks: (readonly [Cid, Uint8Array])[] = []
let plain = new Uint8Array(0)

beforeAll(async () => {
  await initCrypto()
  // Lengths of one, two and three bytes; one block is larger than what one read brings of a section.
  blocks = [3, 90, 300, 40, 20_000, 1, 127, 128].map((length) => {
    const data = randomBytes(length)
    return [blockCid(data, CODEC_RAW), data] as const
  })
  plain = Uint8Array.from(carBytes([blocks[0]![0]], blocks))
})

/** The same archive as version 2, with some bytes before it and behind it. */
function versionTwo(): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES_V2)
  const view = new DataView(header.buffer)
  view.setBigUint64(16, BigInt(PRAGMA_V2.length + HEADER_BYTES_V2 + 13), true)
  view.setBigUint64(24, BigInt(plain.length), true)
  return concatBytes(PRAGMA_V2, header, new Uint8Array(13), plain, new Uint8Array(21))
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const out = Uint8Array.from(bytes)
  out[at] = out[at]! ^ (1 << bit)
  return out
}

/** What a read came to: the byte that damage was told at; `undefined` where it gave what is right. */
function damageOf(read: () => boolean): number | undefined {
  try {
    expect(read()).toBe(true)
    return undefined
  } catch (error) {
    if (!(error instanceof IpldError)) throw error
    expect(error.code).toBe('INVALID_CAR')
    const found = /^Cannot read CAR: .* at byte (\d+)$/.exec(error.message)
    expect(found === null ? error.message : '').toBe('')
    return Number(found?.[1])
  }
}

function isRight(store: ArchiveStore, [cid, data]: readonly [Cid, Uint8Array]): boolean {
  const found = store.get(cid)
  return found !== undefined && equalBytes(found, data)
}

describe('an archive with a damaged byte', () => {
  for (const version of [1, 2]) {
    const sound = (): Uint8Array => (version === 1 ? plain : versionTwo())

    it(`of version ${version} tells the section that was hit`, () => {
      const bytes = sound()
      const header = readCarHeader(memorySource(bytes))
      const base = placeIn(header.source, 0)
      expect(base).toBe(version === 1 ? 0 : 64)
      const sections = [...carSections(header)]
      const index: OffsetIndex = {
        find: (cid, check) => check((sections.find((one) => one.cid.equals(cid)) as CarSection).offset),
        confuses: (sought, found) => sought.equals(found),
      }
      const opened = (content: Uint8Array): IndexedCarStore => {
        const source: ByteSource = {
          ...header.source,
          read: (at, n) => content.subarray(base + at, Math.min(base + at + n, content.length)),
        }
        return new IndexedCarStore({ ...header, source }, index)
      }
      const content = Uint8Array.from(bytes)
      const inMemory = new CarStore(memorySource(content), { verify: 'always' })
      sections.forEach((section, i) => {
        const block = blocks[i] as readonly [Cid, Uint8Array]
        // All of length and CID, the first and last bytes of the data, and some between.
        const places = Array.from({ length: section.dataOffset - section.offset + 1 }, (_, n) => section.offset + n)
        places.push(
          section.next - 1,
          section.dataOffset + int(section.dataLength),
          section.dataOffset + int(section.dataLength),
        )
        for (const place of places) {
          for (let bit = 0; bit < BITS; bit++) {
            const store = opened(flipped(bytes, base + place, bit))
            expect(damageOf(() => isRight(store, block))).toBe(base + section.offset)
            expect([undefined, base + section.offset]).toContain(damageOf(() => store.has(block[0])))
            // Indexed in memory while it was sound, as small archives are.
            content.set(bytes)
            content[base + place] = bytes[base + place]! ^ (1 << bit)
            expect(damageOf(() => isRight(inMemory, block))).toBe(base + section.offset)
            const other = blocks[(i + 1) % blocks.length] as readonly [Cid, Uint8Array]
            expect(damageOf(() => isRight(store, other))).toBe(undefined)
          }
        }
        // The file ends in the section, or before it.
        for (const end of [section.offset, section.offset + 1, section.dataOffset, section.next - 1]) {
          expect(damageOf(() => isRight(opened(bytes.subarray(0, base + end)), block))).toBe(base + section.offset)
        }
      })
    })

    it(`of version ${version} is refused or read as it is when it is opened in memory`, () => {
      const bytes = sound()
      const until = version === 1 ? 0 : 64
      const header = readCarHeader(memorySource(bytes))
      // No hash holds the codec: a file that says another one has another CID, and nothing tells that it is wrong.
      const codecs = new Set(
        [...carSections(header)].map(({ cid, dataOffset }) => until + dataOffset - cid.bytes.length + 1),
      )
      for (let i = 0; i < FLIPS; i++) {
        // The header now and then, too: another root is none of what is asked here.
        const at = i < FLIPS / 4 ? int(until + 60) : int(bytes.length)
        if (codecs.has(at)) continue
        const content = flipped(bytes, at, int(BITS))
        damageOf(() => {
          const store = new CarStore(memorySource(content), { verify: 'open' })
          return at < until + 60 || blocks.every((block) => isRight(store, block))
        })
      }
    })
  }

  it('of Forest tells the frame that was hit', () => {
    if (missingShared('data/snapshots') !== undefined) return
    const bytes = readShared('data/snapshots/chain4.forest.car.zst')
    const source = memorySource(bytes)
    const end = forestIndexOffset(source)
    const frames = [...zstdFrames(source)].filter(({ kind, offset }) => kind === 'data' && offset < end)
    const whole = new ForestCarStore(source)
    const cids = [...whole.cids()]
    const data = cids.map((cid) => whole.get(cid) as Uint8Array)
    let told = 0
    for (let i = 0; i < FLIPS / 3; i++) {
      const frame = frames[1 + int(frames.length - 1)] as (typeof frames)[number]
      // Heads of frames and of their first block as often as what they hold.
      const at = frame.offset + int(i % 2 === 0 ? Math.min(16, frame.length) : frame.length)
      const store = new ForestCarStore(memorySource(flipped(bytes, at, int(BITS))))
      for (let n = int(40); n < cids.length; n += 1 + int(80)) {
        const byte = damageOf(() => isRight(store, [cids[n] as Cid, data[n] as Uint8Array]))
        if (byte === undefined) continue
        expect(byte).toBe(frame.offset)
        told++
      }
    }
    expect(told).toBeGreaterThan(0)
  })

  it('of Forest gives the blocks of all other frames to whoever walked into a damaged one', () => {
    if (missingShared('data/snapshots') !== undefined) return
    const source = memorySource(readShared('data/snapshots/chain4.forest.car.zst'))
    const whole = new ForestCarStore(source)
    const other = [...whole.cids()].at(-1) as Cid
    let walked = 0
    // Each frame that has three sections or more, with a last one that passes its end.
    const end = forestIndexOffset(source)
    const frames = [...zstdFrames(source)].filter(({ kind, offset }) => kind === 'data' && offset < end).slice(1, -1)
    for (const { offset, length, contentSize } of frames.slice(0, FLIPS / 10)) {
      const frame = source.read(offset, length)
      const content = Uint8Array.from(portableZstd(frame, contentSize))
      const sections = [...carSections({ roots: [], source: memorySource(content), start: 0 })]
      if (sections.length < 3) continue
      content.fill(0xff, (sections.at(-1) as CarSection).offset)
      const store = new ForestCarStore(source, (data, size) =>
        equalBytes(data, frame) ? content : portableZstd(data, size),
      )
      for (const { cid } of sections.slice(0, 2)) expect(isRight(store, [cid, whole.get(cid) as Uint8Array])).toBe(true)
      for (let again = 0; again < 2; again++) expect(isRight(store, [other, whole.get(other) as Uint8Array])).toBe(true)
      expect(damageOf(() => store.get((sections.at(-1) as CarSection).cid) !== undefined)).toBe(offset)
      walked++
    }
    expect(walked).toBeGreaterThan(0)
  })

  it('of Forest whose frame lost its last sections is told from one whose hashes are equal', () => {
    if (missingShared('data/snapshots') !== undefined) return
    const source = memorySource(readShared('data/snapshots/chain4.forest.car.zst'))
    const whole = new ForestCarStore(source)
    const cids = [...whole.cids()]
    const header = new TextEncoder().encode('version')
    const isHeader = (content: ByteSource): boolean => equalBytes(content.read(content.size - 8, 7), header)
    // A decoder that gives the first section of a frame and no more: all that is there is sound.
    const first = new ForestCarStore(source, (frame, size) => {
      const content = memorySource(portableZstd(frame, size))
      if (isHeader(content)) return content.read(0, content.size)
      const sections = [...carSections({ roots: [], source: content, start: 0 })].slice(0, 1)
      return content.read(0, sections[0]?.next ?? 0)
    })
    const zeroed = new ForestCarStore(source, (frame, size) => {
      const content = Uint8Array.from(portableZstd(frame, size))
      return isHeader(memorySource(content)) ? content : new Uint8Array(content.length)
    })
    let told = 0
    for (const cid of cids) {
      for (const store of [first, zeroed]) if (damageOf(() => store.get(cid) !== undefined) !== undefined) told++
    }
    expect(told).toBeGreaterThan(cids.length)
  })
})
