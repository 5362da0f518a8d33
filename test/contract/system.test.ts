/** The shims of platform/node keep the contracts of the ports. Node and Deno both run this file: Deno uses them too. */
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    expect(() => environment.commit(() => JSON.parse('broken'))).toThrow('Cannot write to the store')
    expect(environment.meta.has(utf8('head'))).toBe(false)
    environment.meta.put(utf8('head'), utf8('1'))
    expect(environment.blocks.get(blockCid(data))).toEqual(data)
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
    for (const left of ['4194304999', `${process.ppid} 1`, 'nonsense']) {
      writeFileSync(lock, left)
      new Home(path).acquire()
    }
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
