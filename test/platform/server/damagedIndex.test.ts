/**
 * Flipped bits in the index that Petrel makes of a plain CAR: each block is read as it is, or the index is named; it is made again from
 * the archive. A block that is in the archive is never said to be missing.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ArchiveFile, openArchiveFile, openArchiveReader } from '../../../platform/server/archiveFile.ts'
import { nativeZstd } from '../../../platform/server/zstd.ts'
import { carBlocks, carBytes } from '../../../src/archive/car.ts'
import { ForestCarStore } from '../../../src/archive/forestCar.ts'
import { decompressZstd } from '../../../src/archive/zstd.ts'
import { equalBytes } from '../../../src/base/bytes.ts'
import { PetrelError } from '../../../src/base/errors.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import type { Blockstore } from '../../../src/ipld/blockstore.ts'

import { seeded } from '../../support/seeded.ts'
import { missingShared, readShared } from '../../support/shared.ts'
import { until } from '../../support/until.ts'

const BLOCKS = 3000
const FLIPS = 40
/** Where the table's first page ends, which is read when the file is opened; and where its sums begin, about. */
const FIRST_PAGE = 4096
const SUMS_BYTES = 200

const folder = mkdtempSync(join(tmpdir(), 'petrel-index-'))
const path = join(folder, 'chain.car')
const index = `${path}.petrel-index`
const { int } = seeded('flipped bits of an index')
let blocks: (readonly [Cid, Uint8Array])[] = []
let sound = new Uint8Array(0)

beforeAll(async () => {
  await initCrypto()
  const made = Array.from({ length: BLOCKS }, (_, i) => {
    const data = Uint8Array.of(0x83, 0x19, i >> 8, i & 255, 0x18, 24 + int(232), 0x18, 24 + int(232))
    return [blockCid(data), data] as const
  })
  writeFileSync(path, carBytes([made[0]![0]], made))
  blocks = [...carBlocks(memorySource(new Uint8Array(readFileSync(path))))]
  await (await opened()).close()
  sound = new Uint8Array(readFileSync(index))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** In an order in which no two in a row lie in one frame: whoever walks through a frame does not look into the index. */
function apart(cids: readonly Cid[]): Cid[] {
  const half = cids.length >> 1
  return [...cids.slice(0, half).flatMap((cid, i) => [cid, cids[half + i] as Cid]), ...cids.slice(2 * half)]
}

/** The archive, open to the end. @param told - of what is indexed */
async function opened(told: string[] = []): Promise<ArchiveFile> {
  const onProgress = ({ phase }: { phase: string }): void => void told.push(phase)
  const archive = await openArchiveFile(path, { home: folder, smallBytes: 0, onProgress })
  await archive.ready
  return archive
}

function damage(from: number, end: number): void {
  const content = sound.slice()
  const at = from + int(end - from)
  content[at] = (content[at] as number) ^ (1 << int(8))
  rmSync(index, { force: true })
  writeFileSync(index, content)
}

/** Reads every block, and some that are not there. @returns how many reads named the index */
function readAll(store: Blockstore): number {
  let named = 0
  const read = <T>(run: () => T): T | undefined => {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof PetrelError)) throw error
      expect(error.code).toBe('STORE_DAMAGED')
      expect(error.message).toContain(index)
      named++
      return undefined
    }
  }
  for (const [cid, data] of blocks) {
    const before = named
    const found = read(() => store.get(cid))
    if (named === before) expect(found !== undefined && equalBytes(found, data)).toBe(true)
    expect(read(() => store.has(cid))).not.toBe(false)
  }
  for (let i = 0; i < 50; i++) expect(read(() => store.has(blockCid(Uint8Array.of(0x19, 1, i)))) ?? false).toBe(false)
  return named
}

describe('a flipped bit in an index', () => {
  test('is seen when the file is opened, or names it when it is read; nothing is answered wrongly', async () => {
    const seen = { opening: 0, reading: 0 }
    for (let i = 0; i < FLIPS; i++) {
      damage(0, sound.length)
      const told: string[] = []
      const archive = await opened(told)
      const named = readAll(archive.store)
      // Every page is read: none of its bits may pass unseen.
      if (told.length > 0) seen.opening++
      else if (named > 0) seen.reading++
      await archive.close()
      expect(existsSync(index)).toBe(told.length > 0)
    }
    expect(seen.reading).toBeGreaterThan(FLIPS / 2)
    expect(seen.opening + seen.reading).toBe(FLIPS)
  }, 60_000)

  test('is mended while the node runs: the sound pages answer meanwhile, threads that read go over to the new one', async () => {
    damage(FIRST_PAGE, sound.length - SUMS_BYTES)
    const archive = await opened()
    const reader = openArchiveReader(path, { home: folder, smallBytes: 0 })
    const named = readAll(reader)
    expect(named).toBeGreaterThan(0)
    expect(named).toBeLessThan(blocks.length)
    await until(() => existsSync(index), 'there is an index again')
    await until(() => readAll(archive.store) === 0, 'the node reads through it')
    await until(() => readAll(reader) === 0, 'the thread reads through it')
    expect(equalBytes(new Uint8Array(readFileSync(index)), sound)).toBe(true)
    await archive.close()
  }, 30_000)

  test('in the archive itself is named by its byte', async () => {
    const archive = await opened()
    const content = readFileSync(path)
    // Behind the header, in what the stamp does not cover.
    const [first, last] = [FIRST_PAGE, content.length - FIRST_PAGE]
    for (let i = 0; i < 100; i++) {
      const at = first + int(last - first)
      const changed = Buffer.from(content)
      changed[at] = changed[at]! ^ (1 << int(8))
      writeFileSync(path, changed)
      const named = blocks.filter(([cid, data]) => {
        try {
          expect(equalBytes(archive.store.get(cid) ?? new Uint8Array(0), data)).toBe(true)
          return false
        } catch (error) {
          if (!(error instanceof PetrelError)) throw error
          expect(error.message).toMatch(
            new RegExp(`^Cannot read the snapshot ${path}: Cannot read CAR: .* at byte \\d+$`),
          )
          return true
        }
      })
      expect(named.length, `byte ${at}`).toBeGreaterThan(0)
    }
    writeFileSync(path, content)
    await archive.close()
  }, 60_000)

  test('is told where it cannot be mended: the archive itself is damaged, too', async () => {
    await (await opened()).close()
    const failures: unknown[] = []
    const onFailure = (error: unknown): void => void failures.push(error)
    const archive = await openArchiveFile(path, { home: folder, smallBytes: 0, onFailure })
    const content = readFileSync(path)
    const broken = Buffer.from(content)
    broken[content.length - 1] = content[content.length - 1]! ^ 1
    writeFileSync(path, broken)
    rmSync(index, { force: true })
    await until(() => failures.length > 0, 'that is told')
    expect(String(failures[0])).toMatch(/at byte \d+: its bytes hash to something else/)
    await archive.close()
    writeFileSync(path, content)
  }, 30_000)
})

describe.skipIf(missingShared('data/snapshots'))('a flipped bit in the index inside an archive', () => {
  const forest = (): Uint8Array => readShared('data/snapshots/chain4.forest.car.zst')
  const version2 = (): Uint8Array =>
    decompressZstd(memorySource(readShared('data/snapshots/carv2.car.zst')), 1 << 24, nativeZstd)
  const start = (content: Uint8Array, at: number): number =>
    Number(new DataView(content.buffer, content.byteOffset).getBigUint64(at, true))

  for (const [name, read, recordsOf] of [
    ['of Forest', forest, (content: Uint8Array) => start(content, content.length - 8) + 32],
    ['of a CAR of version 2', version2, (content: Uint8Array) => start(content, 11 + 32) + 30],
  ] as const) {
    test(`${name} names the byte; an index of our own is made beside it, and used at the next start`, async () => {
      const content = Uint8Array.from(read())
      const own = join(folder, `inside ${name}`)
      const place = `${own}.petrel-index`
      writeFileSync(own, content)
      const open = async (told: string[] = []): Promise<ArchiveFile> => {
        const onProgress = ({ phase }: { phase: string }): void => void told.push(phase)
        const archive = await openArchiveFile(own, { home: folder, smallBytes: 0, onProgress })
        await archive.ready
        return archive
      }
      const whole = await open()
      const cids = apart([...whole.store.cids()].filter((cid) => !cid.isIdentity))
      const data = cids.map((cid) => whole.store.get(cid) as Uint8Array)
      await whole.close()
      // The lowest bits: the order of the records stays, and nothing but a second look shows it.
      const records = recordsOf(content)
      const step = name === 'of Forest' ? 16 : 40
      let flips = 0
      // Not the first record, which is looked at when the archive is opened.
      for (let at = records + 9 * step; flips < 30; at += step) {
        if (content.subarray(at, at + 8).every((byte) => byte === 255)) continue
        const low = name === 'of Forest' ? at : at + 31
        content[low] = (content[low] as number) ^ 1
        flips++
      }
      writeFileSync(own, content)
      const told: string[] = []
      const archive = await open(told)
      const reader = openArchiveReader(own, { home: folder, smallBytes: 0 })
      const hidden = (store: Blockstore): string[] =>
        cids.flatMap((cid, i) => {
          try {
            expect(equalBytes(store.get(cid) ?? new Uint8Array(0), data[i] as Uint8Array)).toBe(true)
            return []
          } catch (error) {
            if (!(error instanceof PetrelError)) throw error
            expect(error.code).toBe('STORE_DAMAGED')
            return [error.message]
          }
        })
      const texts = hidden(reader)
      expect(texts.length).toBe(30)
      for (const text of texts) {
        const byte = Number(new RegExp(`^Cannot read the snapshot ${own}: .* at byte (\\d+)$`).exec(text)?.[1])
        expect(byte, text).toBeGreaterThanOrEqual(records)
        expect(byte, text).toBeLessThan(records + 300 * step)
      }
      await until(() => statSync(place, { throwIfNoEntry: false })?.size !== 0, 'there is an index')
      await until(() => hidden(archive.store).length === 0, 'the node reads through it')
      await until(() => hidden(reader).length === 0, 'the thread reads through it')
      expect(told).toContain('indexing')
      await archive.close()
      const again = await open()
      expect(hidden(again.store)).toEqual([])
      await again.close()
    }, 60_000)
  }

  test('that Petrel made of a compressed one: it is made again', async () => {
    const own = join(folder, 'compressed.car.zst')
    const made = `${own}.petrel.forest.car.zst`
    writeFileSync(own, readShared('data/snapshots/chain4.car.zst'))
    const open = async (): Promise<ArchiveFile> => {
      const archive = await openArchiveFile(own, { home: folder, smallBytes: 0 })
      await archive.ready
      return archive
    }
    const whole = await open()
    const cids = apart([...whole.store.cids()])
    const data = cids.map((cid) => whole.store.get(cid) as Uint8Array)
    await whole.close()
    const sound = new Uint8Array(readFileSync(made))
    const content = sound.slice()
    const records = start(content, content.length - 8) + 32
    for (let at = records + 160; at < records + 1600; at += 16) {
      if (content[at + 7] !== 255) content[at] = (content[at] as number) ^ 1
    }
    writeFileSync(made, content)
    const archive = await open()
    const hidden = (): number =>
      cids.filter((cid, i) => {
        try {
          expect(equalBytes(archive.store.get(cid) ?? new Uint8Array(0), data[i] as Uint8Array)).toBe(true)
          return false
        } catch (error) {
          if (!(error instanceof PetrelError)) throw error
          expect(error.message).toMatch(/^Cannot read what was made of the snapshot .* at byte \d+$/)
          return true
        }
      }).length
    expect(hidden()).toBeGreaterThan(30)
    await until(() => existsSync(made) && hidden() === 0, 'it is made again, and read')
    expect(equalBytes(new Uint8Array(readFileSync(made)), sound)).toBe(true)
    await archive.close()
  }, 60_000)

  test('which cannot be opened at all is made beside it before the archive is ready', async () => {
    const content = Uint8Array.from(forest())
    const own = join(folder, 'without index')
    const cids = [...new ForestCarStore(memorySource(content), nativeZstd).cids()]
    const buckets = start(content, content.length - 8) + 24
    content[buckets] = (content[buckets] as number) ^ 1
    writeFileSync(own, content)
    const told: string[] = []
    const archive = await openArchiveFile(own, { home: folder, onProgress: ({ phase }) => void told.push(phase) })
    await archive.ready
    expect(told).toContain('indexing')
    for (const cid of cids) expect(archive.store.has(cid)).toBe(true)
    await archive.close()
  }, 60_000)

  test('is told where the archive is damaged, too; nobody waits for an index that cannot be', async () => {
    const content = Uint8Array.from(forest())
    const own = join(folder, 'twice damaged')
    const records = start(content, content.length - 8) + 32
    // Of the frames a byte in the midst of one; of the index the lowest bit of each.
    content[Math.floor(records / 2)] = (content[Math.floor(records / 2)] as number) ^ 1
    for (let at = records; at < content.length - 16; at += 16) {
      if (content[at + 7] !== 255) content[at] = (content[at] as number) ^ 1
    }
    writeFileSync(own, content)
    const failures: unknown[] = []
    const archive = await openArchiveFile(own, { home: folder, onFailure: (error) => void failures.push(error) })
    expect(() => archive.store.get(archive.store.roots[0] as Cid)).toThrow(/at byte \d+$/)
    await until(() => failures.length > 0, 'that is told')
    expect(String(failures[0])).toMatch(/at byte \d+/)
    expect(existsSync(`${own}.petrel-index`)).toBe(false)
    await archive.close()
  }, 60_000)
})
