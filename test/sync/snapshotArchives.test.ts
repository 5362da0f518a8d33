/** Archives read in pieces, indexed on disk, written in Forest's form. */
import { zstdCompressSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { carBlocks, carBytes, readCarHeader, readCarSection } from '../../src/archive/car.ts'
import { CarIndexBuilder, scanBytes } from '../../src/archive/carIndexBuilder.ts'
import { CarScanner, type CarScanSink, LARGE_SECTION_BYTES } from '../../src/archive/carScanner.ts'
import { readCarV2Index } from '../../src/archive/carV2Index.ts'
import { ForestCarStore } from '../../src/archive/forestCar.ts'
import { ForestWriter } from '../../src/archive/forestWriter.ts'
import { atOnce, HashIndex, hashCid, idealSlot, indexShape, writeIndex } from '../../src/archive/hashIndex.ts'
import { HashSorter } from '../../src/archive/hashSorter.ts'
import { IndexedCarStore } from '../../src/archive/indexedCar.ts'
import type { OpenScratch } from '../../src/archive/scratchFile.ts'
import { decompressZstd, portableZstd } from '../../src/archive/zstd.ts'
import { zstdFrameAt, zstdFrames } from '../../src/archive/zstdFrames.ts'
import { concatBytes, equalBytes } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { type ByteSource, memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, CODEC_RAW, createCid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared, readShared } from '../support/shared.ts'

/** Scratch files in memory, counted. */
function scratchFiles(): { open: OpenScratch; count: () => number } {
  let count = 0
  return {
    open: () => {
      count++
      const parts: Uint8Array[] = []
      return {
        write: (data) => void parts.push(data.slice()),
        source: () => memorySource(concatBytes(...parts)),
        close: () => void count--,
      }
    },
    count: () => count,
  }
}

function written(write: (sink: { write(data: Uint8Array): void }) => void): Uint8Array {
  const parts: Uint8Array[] = []
  write({ write: (data) => void parts.push(data.slice()) })
  return concatBytes(...parts)
}

/** Gathers what a scan says. */
function collector(): CarScanSink & { roots: string[]; found: string[]; largeBytes: number } {
  const all = {
    roots: [] as string[],
    found: [] as string[],
    largeBytes: 0,
    header: (roots: readonly Cid[]) => void all.roots.push(...roots.map(String)),
    section: (bytes: Uint8Array, cidStart: number, dataStart: number, end: number, offset: number) => {
      const section = readCarSection(memorySource(bytes.slice(cidStart - (end - cidStart < 128 ? 1 : 2), end)), 0)
      all.found.push(`${section?.cid ?? ''} ${end - dataStart} @${offset}`)
    },
    large: (cid: Cid, length: number, offset: number) => {
      all.found.push(`${cid} ${length} @${offset}`)
      const write = (piece: Uint8Array): void => {
        all.largeBytes += piece.length
      }
      return { write, end: () => undefined }
    },
  }
  return all
}

const missing = missingShared('data/snapshots') !== undefined
beforeAll(() => initCrypto())

describe('sorted hashes', () => {
  it('are the same through memory and through runs on disk, and nothing is left behind', () => {
    const random = seeded('hash sorter')
    const scratch = scratchFiles()
    const small = new HashSorter(scratch.open, 100)
    const large = new HashSorter(scratch.open)
    const pairs: [number, number, number][] = []
    for (let i = 0; i < 1234; i++) {
      // Few upper words: ties.
      pairs.push([random.int(50) * 0x4000000, random.int(3) * 0x7fffffff, random.int(2 ** 20) * 2 ** 20])
    }
    for (const [high, low, offset] of pairs) {
      small.add(high, low, offset)
      large.add(high, low, offset)
    }
    pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
    for (const sorter of [small, large, small]) {
      const found: [number, number, number][] = []
      for (const run = sorter.sorted(); run.next(); ) found.push([run.high, run.low, run.offset])
      expect(found).toEqual(pairs)
    }
    expect(scratch.count()).toBe(12)
    small.close()
    expect(scratch.count()).toBe(0)
  })

  it('find their slot by exact arithmetic', () => {
    const random = seeded('slots')
    for (let i = 0; i < 5000; i++) {
      const high = random.int(2 ** 32)
      const low = random.int(2 ** 32)
      const buckets = random.int(2 ** (1 + random.int(35)))
      const exact = (((BigInt(high) << 32n) | BigInt(low)) * BigInt(buckets)) >> 64n
      expect(idealSlot(high, low, buckets)).toBe(Number(exact))
    }
    expect(idealSlot(0xffffffff, 0xfffffffe, 2 ** 36 - 1)).toBe(2 ** 36 - 2)
  })
})

describe.skipIf(missing)('archives on disk', () => {
  it("index: the bytes that Forest's own writer put into its file", () => {
    const forest = memorySource(readShared('data/snapshots/chain4.forest.car.zst'))
    const sorter = new HashSorter(scratchFiles().open)
    let payload = new Uint8Array(0)
    let index = 0
    for (const frame of zstdFrames(forest)) {
      if (frame.kind === 'skippable') {
        payload = forest.read(frame.offset + 8, frame.length - 8).slice() as Uint8Array<ArrayBuffer>
        break
      }
      const data = memorySource(
        decompressZstd({ size: frame.length, read: (o, n) => forest.read(frame.offset + o, n) }, 1 << 24),
      )
      if (index++ === 0) continue
      for (let at = 0; ; ) {
        const section = readCarSection(data, at)
        if (section === undefined) break
        const { high, low } = hashCid(section.cid)
        sorter.add(high, low, frame.offset)
        at = section.next
      }
    }
    const shape = atOnce(indexShape(sorter))
    const bytes = written((sink) => atOnce(writeIndex(sorter, shape, sink)))
    expect(bytes.length).toBe(payload.length)
    expect(equalBytes(bytes, payload)).toBe(true)
  })

  it.each([6, 30])('opens a file of %s MiB and keeps at most 16 MiB of its frames', (mebibytes) => {
    const random = seeded('frames')
    // Half of it zeros: frames of twice their compressed size.
    const blocks = Array.from({ length: mebibytes * 4 }, () => {
      const data = concatBytes(random.bytes(128 * 1024), new Uint8Array(128 * 1024))
      return [blockCid(data), data] as const
    })
    const scratch = scratchFiles()
    const bytes = written((sink) => {
      const writer = new ForestWriter(sink, [blocks[0]![0]], {
        compress: (data) => plain(zstdCompressSync(data)),
        openScratch: scratch.open,
      })
      for (const [cid, data] of blocks) writer.add(cid, data)
      writer.finish()
    })
    let decompressed = 0
    const store = new ForestCarStore(memorySource(bytes), (data, size) => {
      const content = portableZstd(data, size)
      decompressed += content.length
      return content
    })
    const readAll = (): number => {
      decompressed = 0
      for (const [cid] of blocks) expect(store.has(cid)).toBe(true)
      return decompressed / 2 ** 20
    }
    expect(readAll()).toBeGreaterThan(mebibytes * 0.99)
    const again = readAll()
    if (mebibytes < 16) expect(again).toBe(0)
    else expect(again).toBeGreaterThan(mebibytes - 16)
  })

  it('writes a file that opens in place, with all blocks in order', () => {
    const blocks = [...carBlocks(memorySource(readShared('data/snapshots/chain4.car')))]
    const scratch = scratchFiles()
    const bytes = written((sink) => {
      const writer = new ForestWriter(sink, [blocks[0]![0]], {
        compress: (data) => plain(zstdCompressSync(data)),
        openScratch: scratch.open,
      })
      for (const [cid, data] of blocks) writer.add(cid, data)
      writer.finish()
    })
    expect(scratch.count()).toBe(0)
    const store = new ForestCarStore(memorySource(bytes))
    expect(store.roots.map(String)).toEqual([String(blocks[0]![0])])
    expect([...store.cids()].map(String)).toEqual(blocks.map(([cid]) => String(cid)))
    for (const [cid, data] of blocks) expect(equalBytes(store.get(cid)!, data)).toBe(true)
    expect(store.get(blockCid(Uint8Array.of(1)))).toBeUndefined()
    // As large as Forest's own, give or take; and a plain CAR to whoever just decompresses it.
    expect(bytes.length).toBeLessThan(readShared('data/snapshots/chain4.forest.car.zst').length * 1.1)
    expect(equalBytes(decompressZstd(memorySource(bytes), 1 << 24), readShared('data/snapshots/chain4.car'))).toBe(true)
    expect(zstdFrameAt(memorySource(bytes), 0).kind).toBe('data')
  })

  it('are read alike in pieces of any length', () => {
    const random = seeded('CAR pieces')
    for (const name of ['chain4.car', 'carv2.car.zst']) {
      const packed = readShared(`data/snapshots/${name}`)
      const bytes = name.endsWith('.zst') ? decompressZstd(memorySource(packed), 1 << 24) : packed
      const whole = collector()
      scanBytes(bytes, whole)
      expect(whole.found.map((one) => one.split(' ')[0])).toEqual(
        [...carBlocks(memorySource(bytes))].map(([cid]) => String(cid)),
      )
      for (let run = 0; run < 3; run++) {
        const parts = collector()
        const scanner = new CarScanner(parts)
        const piece = new Uint8Array(1 << 16)
        for (let at = 0; at < bytes.length; ) {
          const length = Math.min(1 + random.int(run === 0 ? 200 : piece.length), bytes.length - at)
          // The same array again and again: the scanner must not keep it.
          piece.set(bytes.subarray(at, at + length))
          scanner.push(piece.subarray(0, length))
          at += length
        }
        scanner.finish()
        const same = { ...whole, header: expect.anything(), section: expect.anything(), large: expect.anything() }
        expect(parts).toEqual(same)
        // At any place, nothing kept: what was not used is read again.
        const taken = collector()
        const taking = new CarScanner(taken)
        while (taking.position < bytes.length) {
          const length = taking.needed + random.int(run === 0 ? 3 : 5000)
          const memory = bytes.slice(taking.position, taking.position + length)
          const before = taking.position
          expect(taking.take(memory)).toBe(taking.position - before)
          memory.fill(0xff)
        }
        taking.finish()
        expect(taken).toEqual(same)
      }
    }
  })

  it('that are cut short or damaged are refused with the offset, wherever it is', () => {
    const random = seeded('damaged CAR')
    const bytes = readShared('data/snapshots/chain4.car')
    const isWhole = new Set<number>()
    /** Where a CID says how its block is encoded, which its hash does not cover. */
    const codecs = new Set<number>()
    const { start: first } = readCarHeader(memorySource(bytes))
    for (let at = first; ; ) {
      const section = readCarSection(memorySource(bytes), at)
      if (section === undefined) break
      isWhole.add(section.offset)
      codecs.add(section.dataOffset - section.cid.bytes.length + 1)
      at = section.next
    }
    const index = (data: Uint8Array): number | string => {
      const builder = new CarIndexBuilder(memorySource(data), new HashSorter(scratchFiles().open))
      try {
        while (builder.step()) {}
        return builder.sink.blocks
      } catch (error) {
        if (!(error instanceof PetrelError)) throw error
        expect(error.message).toMatch(/byte \d+|CBOR|CID|cid|varint|canonical|version/)
        return error.code
      }
    }
    expect(index(bytes)).toBe(1222)
    for (let run = 0; run < 60; run++) {
      const cut = random.int(bytes.length)
      if (!isWhole.has(cut)) expect(typeof index(bytes.subarray(0, cut)), `cut at ${cut}`).toBe('string')
      const damaged = bytes.slice()
      const at = random.int(bytes.length)
      damaged[at] = (damaged[at] as number) ^ (1 + random.int(255))
      // The roots in the header are not covered by any hash.
      if (at >= first && !codecs.has(at)) expect(typeof index(damaged), `byte ${at}`).toBe('string')
      // A run of garbage or zeros.
      const garbage = bytes.slice()
      const start = first + random.int(bytes.length - 1000 - first)
      garbage.set(random.int(2) === 0 ? random.bytes(1000) : new Uint8Array(1000), start)
      expect(typeof index(garbage), `garbage at ${start}`).toBe('string')
    }
  })

  it('are read into the same memory again and again, longer blocks than that too', () => {
    const random = seeded('one memory')
    const blocks = Array.from({ length: 60 }, (_, i) => random.bytes(i % 7 === 3 ? 2_500_000 : 1 + random.int(90_000)))
    const named = blocks.map((data): [Cid, Uint8Array] => [blockCid(data, CODEC_RAW), data])
    const bytes = carBytes([(named[0] as [Cid, Uint8Array])[0]], named)
    const given = new Set<ArrayBufferLike>()
    const fill = (offset: number, into: Uint8Array): number => {
      given.add(into.buffer)
      const part = bytes.subarray(offset, offset + into.length)
      into.set(part)
      return part.length
    }
    const index = (source: ByteSource): string => {
      const sorter = new HashSorter(scratchFiles().open)
      const builder = new CarIndexBuilder(source, sorter)
      while (builder.step()) {}
      const shape = atOnce(indexShape(sorter))
      return Buffer.from(written((sink) => atOnce(writeIndex(sorter, shape, sink)))).toString('hex')
    }
    const { size, read } = memorySource(bytes)
    expect(index({ size, read: () => expect.unreachable(), fill })).toBe(index({ size, read }))
    // Two: once it had to grow.
    expect(given.size).toBe(2)
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1
    expect(() => index({ size, read, fill })).toThrow(/bytes hash to something else/)
    expect(() => index({ size, read, fill: (at, into) => Math.max(0, fill(at, into) - 1) })).toThrow(
      /ends in the middle of a section/,
    )
  })

  it('with a block too long for memory are read in pieces, and it is checked', () => {
    const long = new Uint8Array(LARGE_SECTION_BYTES + 12345)
    for (let i = 0; i < long.length; i += 4096) long[i] = i >> 12
    const cid = blockCid(long, CODEC_RAW)
    const bytes = carBytes(
      [cid],
      [
        [cid, long],
        [blockCid(Uint8Array.of(0x80)), Uint8Array.of(0x80)],
      ],
    )
    const all = collector()
    scanBytes(bytes, all)
    expect([all.found.length, all.largeBytes]).toEqual([2, long.length])
    const sorter = new HashSorter(scratchFiles().open)
    const builder = new CarIndexBuilder(memorySource(bytes), sorter)
    while (builder.step()) {}
    const shape = atOnce(indexShape(sorter))
    const index = new HashIndex(memorySource(written((sink) => atOnce(writeIndex(sorter, shape, sink)))))
    expect(index.find(cid, (offset) => offset)).toBe(readCarHeader(memorySource(bytes)).start)
    bytes[bytes.length - 1000] = 1
    const again = new CarIndexBuilder(memorySource(bytes), new HashSorter(scratchFiles().open))
    expect(() => {
      while (again.step()) {}
    }).toThrow(/bytes hash to something else/)
  })
})

function plain(data: Uint8Array): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

describe.skipIf(missing)('the index of a version 2 archive', () => {
  const bytes = (): Uint8Array => decompressZstd(memorySource(readShared('data/snapshots/carv2.car.zst')), 1 << 24)

  it('finds every block, and nothing else', () => {
    const source = memorySource(bytes())
    const index = readCarV2Index(source)
    const store = new IndexedCarStore(readCarHeader(source), index!)
    let count = 0
    for (const cid of store.cids()) {
      if (cid.isIdentity) continue
      count++
      expect(store.get(cid), String(cid)).toBeDefined()
      const other = cid.digest.slice()
      other[31] = (other[31] as number) ^ 1
      expect(store.has(createCid(cid.codec, cid.hashCode, other))).toBe(false)
    }
    expect(count).toBe(7153)
    const random = seeded('not in the index')
    for (let i = 0; i < 200; i++) expect(store.get(blockCid(random.bytes(8)))).toBeUndefined()
  })

  it('is left aside where it is damaged, or leads to blocks that are refused', () => {
    const random = seeded('damaged version 2 index')
    const whole = bytes()
    const start = Number(new DataView(whole.buffer, whole.byteOffset).getBigUint64(11 + 32, true))
    for (let run = 0; run < 200; run++) {
      const damaged = whole.slice()
      const at = start + random.int(run < 100 ? 40 : whole.length - start)
      damaged[at] = random.int(256)
      const source = memorySource(random.int(4) === 0 ? damaged.subarray(0, at) : damaged)
      const index = readCarV2Index(source)
      if (index === undefined) continue
      const store = new IndexedCarStore(readCarHeader(source), index)
      try {
        store.get(store.roots[0]!)
        store.get(blockCid(random.bytes(8)))
      } catch (error) {
        expect(error).toBeInstanceOf(PetrelError)
      }
    }
  })
})
