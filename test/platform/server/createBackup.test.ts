/** `CreateBackup`: a file that is whole or the one before, while the node goes on. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeBackup } from '../../../platform/server/backupFile.ts'
import { readPairs } from '../../../platform/server/backupPairs.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { fromUtf8, utf8 } from '../../../src/base/bytes.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import type { KeyValueStore } from '../../../src/base/ports.ts'

const CERTIFICATES = 1000
const OTHERS = ['auth/revoked/1', 'chain/head', 'f', 'f3', 'f3/net/zzz', 'f4', 'payments/message/1', 'ÿ']

describe('CreateBackup', () => {
  let folder = ''
  const environment = (): NodeJS.ProcessEnv => ({ PETREL_BACKUP_BASE_PATH: folder })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-create-backup-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const certificate = (network: string, instance: number): Uint8Array =>
    utf8(`f3/${network}/cert/${String(instance).padStart(8, '0')}`)
  function fill(store: KeyValueStore): void {
    for (let i = 0; i < CERTIFICATES; i++) store.put(certificate('net', i), new Uint8Array(700))
    store.put(certificate('other', 0), new Uint8Array(700))
    store.put(utf8('f3/net/latest'), utf8(String(CERTIFICATES - 1)))
    for (const name of OTHERS) store.put(utf8(name), utf8('before'))
  }
  const read = (path: string): Map<string, Uint8Array> =>
    new Map(readPairs(new Uint8Array(readFileSync(path)), path).map(([key, value]) => [fromUtf8(key), value]))

  it('leaves the backup before where a new one fails', async () => {
    const store = new MemoryStore()
    fill(store)
    const path = join(folder, 'nightly')
    await writeBackup(path, store, environment())
    const before = readFileSync(path)
    const get = store.get.bind(store)
    store.get = (key) => {
      if (fromUtf8(key).endsWith('900')) throw new Error('the store is damaged')
      return get(key)
    }
    await expect(writeBackup(path, store, environment())).rejects.toThrow('the store is damaged')
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(folder)).toEqual(['nightly'])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('lets the node write meanwhile: it is of one moment, with all certificates that it names', async () => {
    const store = new LmdbEnvironment({ path: join(folder, 'store') })
    try {
      const { meta } = store
      fill(meta)
      let turns = 0
      let isOver = false
      const write = (): void => {
        if (isOver) return
        meta.put(certificate('net', CERTIFICATES + turns), new Uint8Array(700))
        meta.batch([
          { op: 'put', key: utf8('f3/net/latest'), value: utf8(String(CERTIFICATES + turns)) },
          ...OTHERS.map((name) => ({ op: 'put' as const, key: utf8(name), value: utf8('meanwhile') })),
        ])
        turns++
        setImmediate(write)
      }
      setImmediate(write)
      const path = join(folder, 'beside')
      await writeBackup(path, meta, environment())
      isOver = true
      expect(turns).toBeGreaterThan(CERTIFICATES / 200)
      const found = read(path)
      for (const name of OTHERS) expect([name, fromUtf8(found.get(name) as Uint8Array)]).toEqual([name, 'before'])
      expect(found.has(fromUtf8(certificate('other', 0)))).toBe(true)
      const latest = Number(fromUtf8(found.get('f3/net/latest') as Uint8Array))
      for (let i = 0; i <= latest; i++) expect(found.has(fromUtf8(certificate('net', i)))).toBe(true)
    } finally {
      await store.close()
    }
  })

  it('ends with the store, and leaves nothing', async () => {
    const store = new LmdbEnvironment({ path: join(folder, 'store') })
    fill(store.meta)
    const path = join(folder, 'ended')
    const written = writeBackup(path, store.meta, environment())
    const closed = new Promise((resolve) => setImmediate(() => resolve(store.close())))
    await expect(written).rejects.toThrow('it is closed')
    await closed
    expect(readdirSync(folder)).toEqual(['store'])
  })

  it('removes what a kill has left, when nobody has touched it for long', async () => {
    const path = join(folder, 'nightly')
    const [old, young, foreign] = ['nightly.part-0123abcd', 'nightly.part-4567cdef', 'nightly.part-mine'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    for (const file of [old, young, foreign]) writeFileSync(file, 'x')
    const hourAgo = new Date(Date.now() - 3_600_000)
    for (const file of [old, foreign]) utimesSync(file, hourAgo, hourAgo)
    await writeBackup(path, new MemoryStore(), environment())
    expect([old, young, foreign, path].map((file) => existsSync(file))).toEqual([false, true, true, true])
  })
})
