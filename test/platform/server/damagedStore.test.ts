/** A store that the disk has damaged is named, whatever was damaged; one that is sound is not. */
import fs, {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkHome } from '../../../platform/server/checkHome.ts'
import { Home } from '../../../platform/server/home.ts'
import { assertSound, DATA_FILE } from '../../../platform/server/lmdbFile.ts'
import { metasOf } from '../../../platform/server/lmdbPages.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { concatBytes, utf8 } from '../../../src/base/bytes.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { seeded } from '../../support/seeded.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-damaged-'))
beforeAll(async () => void (await initCrypto()))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SEED = 16
const PAGE = 4096
const PAGE_HEADER = 24
const MARK = utf8('a block that can be found in the file')

/** A store with blocks of each size that LMDB keeps in its own way: within a page, and in pages of their own. */
async function makeStore(name: string): Promise<{ home: Home; file: string; cids: Cid[] }> {
  const home = new Home(join(folder, name))
  const { bytes } = seeded(name, SEED)
  const environment = new LmdbEnvironment({ path: home.chain })
  const cids: Cid[] = []
  for (let i = 0; i < 400; i++) {
    const data = concatBytes(MARK, bytes([100, 900, 3000, 20_000][i % 4] as number))
    const cid = blockCid(data)
    environment.blocks.put(cid, data)
    cids.push(cid)
  }
  await environment.close()
  return { home, file: join(home.chain, DATA_FILE), cids }
}

/** Without the room that was taken for what comes next. */
function usedPart(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const [meta] = metasOf(descriptor)
    return readFileSync(file).subarray(0, ((meta?.lastPage ?? 0) + 1) * (meta?.pageBytes ?? 0))
  } finally {
    closeSync(descriptor)
  }
}

describe('data.mdb', () => {
  test('that was cut off anywhere is named, not mapped', async () => {
    const { file, home } = await makeStore('cut')
    const whole = usedPart(file)
    expect(() => assertSound(file)).not.toThrow()
    for (const length of [1, 100, 5000, PAGE, 2 * PAGE, whole.length >> 1, whole.length - PAGE, whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length))
      const error = { code: 'STORE_DAMAGED', message: expect.stringContaining(file) as string }
      expect(() => new LmdbEnvironment({ path: home.chain }), `${length} bytes`).toThrow(expect.objectContaining(error))
    }
  })

  test('that LMDB would refuse is named before it is asked: refusing, it ends the process', async () => {
    const { file, home } = await makeStore('refused')
    const whole = usedPart(file)
    const error = { code: 'STORE_DAMAGED', message: expect.stringContaining('its first pages are damaged') as string }
    // Of the first page: that it is a meta page, LMDB's number, its layout's. @see mdb.c mdb_env_read_header
    for (const at of [18, PAGE_HEADER, PAGE_HEADER + 3, PAGE_HEADER + 4]) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] as number) ^ 8
      writeFileSync(file, damaged)
      expect(() => new LmdbEnvironment({ path: home.chain }), `byte ${at}`).toThrow(expect.objectContaining(error))
    }
    for (const byte of [0, 1]) {
      writeFileSync(file, new Uint8Array(16 * PAGE).fill(byte))
      expect(() => new LmdbEnvironment({ path: home.chain }), `all ${byte}`).toThrow(expect.objectContaining(error))
    }
  })

  test('of a node that writes is not taken for one that was cut off', async () => {
    const { file } = await makeStore('grows')
    const small = usedPart(file)
    const environment = new LmdbEnvironment({ path: dirname(file) })
    for (let i = 0; i < 20; i++) environment.meta.put(utf8(`key ${i}`), new Uint8Array(PAGE))
    await environment.close()
    const large = usedPart(file)
    expect(large.length).toBeGreaterThan(small.length)
    writeFileSync(file, small)
    const { fstatSync } = fs
    let grown = 0
    fs.fstatSync = ((descriptor: number) => {
      const found = fstatSync(descriptor)
      writeFileSync(file, large)
      grown++
      return found
    }) as typeof fstatSync
    syncBuiltinESMExports()
    try {
      expect(() => assertSound(file)).not.toThrow()
      expect(grown).toBe(1)
    } finally {
      fs.fstatSync = fstatSync
      syncBuiltinESMExports()
    }
  })

  test('may end before pages that are free', async () => {
    const { file, home, cids } = await makeStore('free')
    const environment = new LmdbEnvironment({ path: home.chain })
    environment.blocks.deleteAll(cids.slice(4))
    // What was freed is used again two transactions later: the last of these lie in front.
    for (let i = 0; i < 40; i++) {
      environment.blocks.put(cids[0] as Cid, utf8('again'))
      environment.blocks.deleteAll(cids.slice(0, 1))
      environment.meta.put(utf8('key'), Uint8Array.of(i))
    }
    await environment.close()
    const whole = readFileSync(file)
    let least = whole.length
    try {
      for (; least > 0; least -= PAGE) {
        truncateSync(file, least - PAGE)
        assertSound(file)
      }
    } catch (error) {
      expect(error).toMatchObject({ code: 'STORE_DAMAGED' })
    }
    expect(least).toBeLessThan(whole.length)
    writeFileSync(file, whole.subarray(0, least))
    const again = new LmdbEnvironment({ path: home.chain })
    for (const cid of cids.slice(1, 4)) expect(again.blocks.get(cid)).toBeDefined()
    expect(again.meta.get(utf8('key'))).toEqual(Uint8Array.of(39))
    await again.close()
  })
})

describe('a flipped bit in a block', () => {
  /** In the first block that has pages of its own: they are not copied when LMDB divides a page. */
  function flip(file: string): void {
    const bytes = readFileSync(file)
    let at = bytes.indexOf(MARK)
    while (at % PAGE !== PAGE_HEADER) at = bytes.indexOf(MARK, at + 1)
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, Uint8Array.of((bytes[at] as number) ^ 1), 0, 1, at)
    closeSync(descriptor)
  }

  test('is found by a look through the store, which names the block and no other', async () => {
    const { home, file, cids } = await makeStore('flipped')
    const sound = await checkHome(home)
    expect(sound).toMatchObject({ blocks: cids.length, damagedCount: 0, faults: [] })
    flip(file)
    const report = await checkHome(home)
    expect(report?.damagedCount).toBe(1)
    expect(report?.faults).toEqual([`block ${report?.damaged[0]} is damaged`])
  })

  test('is noticed by who reads', async () => {
    const { home, file, cids } = await makeStore('read')
    flip(file)
    const environment = new LmdbEnvironment({ path: home.chain })
    expect(() => {
      // One read of 64 is checked: an odd number of blocks brings each its turn.
      for (let read = 0; read < 64 * 399; read++) environment.blocks.get(cids[read % 399] as Cid)
    }).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }))
    await environment.close()
  })
})

test('a page that points to one entry twice, so that another is lost, is named', async () => {
  const home = new Home(join(folder, 'twice'))
  const environment = new LmdbEnvironment({ path: home.chain })
  const keys = Array.from({ length: 20 }, (_, i) => utf8(`an entry ${String(i).padStart(2, '0')}`))
  environment.meta.batch(keys.map((key) => ({ op: 'put', key, value: utf8('its value') })))
  await environment.close()
  const path = join(home.chain, DATA_FILE)
  const file = new Uint8Array(readFileSync(path))
  let pages = 0
  for (let at = 2 * PAGE; at < file.length; at += PAGE) {
    if (Buffer.from(file.subarray(at, at + PAGE)).indexOf('an entry 05') < 0) continue
    // The places of a page's entries stand behind its header, two bytes each.
    file.copyWithin(at + PAGE_HEADER + 2 * 6, at + PAGE_HEADER + 2 * 5, at + PAGE_HEADER + 2 * 6)
    pages++
  }
  expect(pages).toBeGreaterThan(0)
  writeFileSync(path, file)
  const damaged = new LmdbEnvironment({ path: home.chain })
  try {
    expect(() => [...damaged.meta.keys()]).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }))
  } finally {
    await damaged.close()
  }
  expect((await checkHome(home))?.faults).toEqual([expect.stringContaining('points to one of them twice')])
})

test('a home without a store has nothing to look through', async () => {
  expect(await checkHome(new Home(join(folder, 'none')))).toBeUndefined()
})
