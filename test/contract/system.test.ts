/** The shims of platform/node keep the contracts of the ports. Node and Deno both run this file: Deno uses them too. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { openFileSource } from '../../platform/server/fileSource.ts'
import { Home } from '../../platform/server/home.ts'
import { LmdbEnvironment } from '../../platform/server/lmdbStore.ts'
import { createLogger } from '../../platform/server/logger.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { SecretFiles } from '../../platform/server/secretFiles.ts'
import { nativeZstd } from '../../platform/server/zstd.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { blockstoreContract, type OpenBlockstore } from './blockstore.ts'
import { byteSourceContract } from './byteSource.ts'
import { keyValueStoreContract } from './keyValueStore.ts'
import { randomContract, timeContract, zstdContract } from './ports.ts'
import { secretStoreContract } from './secretStore.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-contract-'))
let next = 0
const newPath = (): string => join(folder, String(next++))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const openLmdb = (path: string): LmdbEnvironment => new LmdbEnvironment({ path })

function lmdbBlocks(path: string): OpenBlockstore {
  const environment = openLmdb(path)
  const close = (): Promise<void> => environment.close()
  return {
    blocks: environment.blocks,
    close,
    reopen: async () => {
      await close()
      return lmdbBlocks(path)
    },
  }
}

let lastStore = ''
keyValueStoreContract('LMDB', {
  open: () => {
    lastStore = newPath()
    return Promise.resolve(openLmdb(lastStore).meta)
  },
  reopen: () => Promise.resolve(openLmdb(lastStore).meta),
})
blockstoreContract('LMDB', () => Promise.resolve(lmdbBlocks(newPath())))
secretStoreContract('files', () => new SecretFiles(newPath()))
byteSourceContract('file', (content) => {
  const path = newPath()
  writeFileSync(path, content)
  return openFileSource(path)
})
timeContract('system', systemClock, systemTimers)
randomContract('system', systemRandom)
zstdContract('native', nativeZstd)

describe('LMDB', () => {
  it('commits pending blocks with the next write, in one transaction', async () => {
    const environment = openLmdb(newPath())
    const data = utf8('block')
    environment.blocks.put(blockCid(data), data)
    expect(() => environment.commit({ writes: 1, bytes: 6 }, () => JSON.parse('broken'))).toThrow(
      'Cannot write to the store',
    )
    expect(environment.meta.has(utf8('head'))).toBe(false)
    environment.meta.put(utf8('head'), utf8('1'))
    expect(environment.blocks.get(blockCid(data))).toEqual(data)
    await environment.close()
  })

  it('makes a commit whose fence an earlier run has left', async () => {
    const path = newPath()
    await openLmdb(path).close()
    const root = open({ path, maxDbs: 4, encoding: 'binary', keyEncoding: 'binary' })
    const format = root.openDB({ name: 'format', encoding: 'binary', keyEncoding: 'binary' })
    format.putSync(utf8('fence 1'), utf8('1'))
    await root.close()
    const environment = openLmdb(path)
    await environment.meta.commit([{ op: 'put', key: utf8('head'), value: utf8('1') }])
    expect(environment.meta.get(utf8('head'))).toEqual(utf8('1'))
    await environment.close()
  })
})

describe('secret files', () => {
  it.skipIf(process.platform === 'win32')('are for the owner alone, and refused when they are not', async () => {
    const path = newPath()
    const secrets = new SecretFiles(path)
    await secrets.create('ABC', utf8('secret'))
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(statSync(join(path, 'ABC')).mode & 0o777).toBe(0o600)
    expect(readdirSync(path)).toEqual(['ABC'])
    chmodSync(join(path, 'ABC'), 0o640)
    const refusal = 'are too relaxed, required: 0600, got: 0640'
    await expect(secrets.read('ABC')).rejects.toThrow(refusal)
    await expect(secrets.list()).rejects.toThrow(refusal)
  })

  it('leave nothing of a write that was cut off, or that failed', async () => {
    const path = newPath()
    const secrets = new SecretFiles(path)
    await secrets.create('ABC', utf8('secret'))
    // As a kill between writing and naming leaves it.
    writeFileSync(join(path, '.tmp-4c1f'), 'secret in the plain')
    expect(await secrets.list()).toEqual(['ABC'])
    await secrets.sweep()
    expect(readdirSync(path)).toEqual(['ABC'])
    mkdirSync(join(path, 'DEF'))
    writeFileSync(join(path, 'DEF', 'x'), '')
    await expect(secrets.replace('DEF', utf8('y'))).rejects.toThrow()
    expect(readdirSync(path).sort()).toEqual(['ABC', 'DEF'])
  })

  it('have names that stay in the folder', async () => {
    const secrets = new SecretFiles(newPath())
    for (const name of ['', '..', '../A', 'a', 'A/B', 'A.B']) {
      await expect(secrets.create(name, utf8('x'))).rejects.toMatchObject({ code: 'NAME_INVALID' })
    }
  })
})

describe('home', () => {
  it('belongs to one process', () => {
    const path = newPath()
    const home = new Home(path)
    home.acquire()
    expect(statSync(home.keystore).isDirectory()).toBe(true)
    const lock = join(path, 'petrel.lock')
    // The process that started this one lives.
    writeFileSync(lock, `${process.ppid}`)
    expect(() => new Home(path).acquire()).toThrow('is running on it')
    // As kill -9 leaves it: a number that no process has, or one that another process has by now.
    for (const left of ['4194304999', `${process.ppid} 1`, '', '\0\0\0\0']) {
      writeFileSync(lock, left)
      new Home(path).acquire()
    }
    // A bit that has flipped makes no living holder a dead one, nor one of another process.
    const content = readFileSync(lock)
    for (let bit = 0; bit < content.length * 8; bit++) {
      const changed = Buffer.from(content)
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
      writeFileSync(lock, changed)
      // The end of the line says nothing.
      if (bit >> 3 === content.length - 1 && changed.toString().trim() === content.toString().trim()) continue
      expect(() => new Home(path).acquire(), changed.toString()).toThrow(`Cannot use ${lock}: it is damaged`)
    }
    writeFileSync(lock, content)
    home.release()
    expect(readdirSync(path)).not.toContain('petrel.lock')
  })
})

describe('log', () => {
  it('writes what its level lets through, one line each', () => {
    const lines: string[] = []
    const log = createLogger({ level: 'info', format: 'json', write: (line) => lines.push(line) })
    log.debug('hidden')
    log.info('seen', { amount: 5n, key: Uint8Array.of(1, 2) })
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      level: 'info',
      message: 'seen',
      info: { amount: '5', key: '<2 bytes>' },
    })
  })
})

describe('LMDB, what is committed by its own thread', () => {
  it.each([1, 40])('takes along the blocks that were put before, %i of them, under way or not', async (count) => {
    const path = newPath()
    const environment = new LmdbEnvironment({ path })
    const blocks = Array.from({ length: count }, (_, i) => new Uint8Array(10_000).fill(i))
    for (const block of blocks) environment.blocks.put(blockCid(block), block)
    // Many are on their way by now.
    await new Promise((resolve) => setImmediate(resolve))
    const late = utf8('late')
    environment.blocks.put(blockCid(late), late)
    await environment.meta.commit([{ op: 'put', key: utf8('names them'), value: utf8('1') }])
    const seen = new LmdbEnvironment({ path, readsOnly: true })
    expect(seen.meta.get(utf8('names them'))).toEqual(utf8('1'))
    for (const block of [...blocks, late]) expect(seen.blocks.get(blockCid(block))).toEqual(block)
    await seen.close()
    await environment.close()
  })

  it('is written before the store closes, also while blocks are under way', async () => {
    const path = newPath()
    const environment = new LmdbEnvironment({ path })
    for (let i = 0; i < 40; i++) {
      const block = new Uint8Array(10_000).fill(i)
      environment.blocks.put(blockCid(block), block)
    }
    await new Promise((resolve) => setImmediate(resolve))
    const written = environment.meta.commit([{ op: 'put', key: utf8('last'), value: utf8('1') }])
    await environment.close()
    await written
    const again = new LmdbEnvironment({ path })
    expect(again.meta.get(utf8('last'))).toEqual(utf8('1'))
    await again.close()
  })
})

describe('LMDB on a disk that is full', () => {
  it('refuses before it writes, keeps what it had, and goes on', async () => {
    let free = Number.MAX_SAFE_INTEGER
    const path = newPath()
    const environment = new LmdbEnvironment({ path, freeBytes: () => free })
    const { meta, blocks } = environment
    meta.put(utf8('a'), utf8('1'))
    free = 100_000
    const data = utf8('block')
    blocks.put(blockCid(data), data)
    for (let i = 0; i < 100; i++) {
      expect(() => meta.put(utf8('a'), utf8('2'))).toThrow(expect.objectContaining({ code: 'STORE_FULL' }))
    }
    await expect(meta.flush()).rejects.toMatchObject({ code: 'STORE_FULL' })
    const late = meta.commit([{ op: 'put', key: utf8('a'), value: utf8('3') }])
    await expect(late).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(meta.get(utf8('a'))).toEqual(utf8('1'))
    free = Number.MAX_SAFE_INTEGER
    meta.put(utf8('a'), utf8('2'))
    await environment.close()
    const again = new LmdbEnvironment({ path })
    expect(again.meta.get(utf8('a'))).toEqual(utf8('2'))
    expect(again.blocks.get(blockCid(data))).toEqual(data)
    await again.close()
  })

  it('keeps a bound on what waits', () => {
    let free = Number.MAX_SAFE_INTEGER
    const { blocks } = new LmdbEnvironment({ path: newPath(), freeBytes: () => free })
    free = 0
    let refused = 0
    for (let i = 0; i < 12; i++) {
      const data = new Uint8Array(1 << 20).fill(i)
      try {
        blocks.put(blockCid(data), data)
      } catch {
        refused++
        expect(blocks.has(blockCid(data))).toBe(false)
      }
    }
    expect(refused).toBe(4)
  })

  it('opens for readers without room: threads of the machine, and doctor', async () => {
    const path = newPath()
    const writer = new LmdbEnvironment({ path })
    writer.meta.put(Uint8Array.of(1), Uint8Array.of(2))
    const reader = new LmdbEnvironment({ path, freeBytes: () => 0, readsOnly: true })
    expect(reader.meta.get(Uint8Array.of(1))).toEqual(Uint8Array.of(2))
    expect(() => reader.meta.put(Uint8Array.of(1), Uint8Array.of(3))).toThrow('the disk is full')
    await reader.close()
    await writer.close()
  })

  it('is refused at the start, by name', () => {
    expect(() => new LmdbEnvironment({ path: newPath(), freeBytes: () => 0 })).toThrow(
      /the disk is full \(0 bytes free at /,
    )
  })
})
