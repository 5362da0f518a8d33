/** What a tab writes at once: of more than this Chromium writes an undo log into the database, of which a kill makes it delete all. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openBrowserStores } from '../../../platform/browser/browserStores.ts'
import { openDatabase } from '../../../platform/browser/database.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import type { Logger } from '../../../src/base/ports.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { seeded } from '../../support/seeded.ts'

/** @see chromium components/services/storage/indexed_db/scopes/leveldb_scopes.h kDefaultMaxWriteBatchSizeBytes */
const CHROMIUM_BYTES = 1024 * 1024
/** Of each change: two keys in LevelDB and what is beside them. */
const KEYS_BYTES = 200

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const name = (): string => `transactions-${Date.now()}-${Math.random()}`

const { put, delete: remove } = IDBObjectStore.prototype
let written = new Map<IDBTransaction, number>()
const count = (store: IDBObjectStore, bytes: number): void =>
  void written.set(store.transaction, (written.get(store.transaction) ?? 0) + bytes + KEYS_BYTES)

beforeEach(() => {
  written = new Map()
  IDBObjectStore.prototype.put = function (value, key) {
    count(this, value instanceof Uint8Array ? value.length : JSON.stringify(value).length)
    return put.call(this, value, key)
  }
  IDBObjectStore.prototype.delete = function (key) {
    count(this, 0)
    return remove.call(this, key)
  }
})
afterEach(() => {
  Object.assign(IDBObjectStore.prototype, { put, delete: remove })
})

const largest = (): number => Math.max(...written.values())

describe('a transaction', () => {
  const random = seeded('blocks')
  const blocksOf = (count: number, bytes: number): Uint8Array[] =>
    Array.from({ length: count }, () => random.bytes(1 + random.int(bytes)))

  it.each([
    [600, 20_000],
    [20_000, 100],
    [3, 1_500_000],
  ])(
    'of %i blocks of up to %i bytes',
    async (number, bytes) => {
      await initCrypto()
      const database = name()
      const stores = await openBrowserStores({ database: await openDatabase(database), log: silent, evict: false })
      const blocks = blocksOf(number, bytes)
      for (const block of blocks) stores.blocks.put(blockCid(block), block)
      stores.meta.put(utf8('head'), utf8('of them'))
      await stores.flush()
      expect(largest()).toBeLessThan(Math.max(CHROMIUM_BYTES, ...blocks.map(({ length }) => length + 10_000)))
      await stores.close()
      const seen = await openBrowserStores({ database: await openDatabase(database), log: silent, evict: false })
      expect(seen.meta.get(utf8('head'))).toEqual(utf8('of them'))
      const cids = new Map(blocks.map((block) => [blockCid(block).key, blockCid(block)]))
      const found = await seen.source.fetch([...cids.values()], AbortSignal.timeout(60_000))
      expect(found.length).toBe(cids.size)
      await seen.close()
    },
    60_000,
  )

  it('that makes room, and one that turns the log', async () => {
    await initCrypto()
    const database = name()
    const bounds = { evict: true, maxDiskBytes: 2 * CHROMIUM_BYTES, maxMemoryBytes: 100_000, log: silent }
    const stores = await openBrowserStores({ database: await openDatabase(database), ...bounds })
    for (let turn = 0; turn < 4; turn++) {
      for (const block of blocksOf(15_000, 200)) stores.blocks.put(blockCid(block), block)
      await stores.flush()
    }
    expect(stores.figures.blockBytes).toBeLessThan(bounds.maxDiskBytes)
    await stores.close()
    await (await openBrowserStores({ database: await openDatabase(database), ...bounds })).close()
    expect(largest()).toBeLessThan(CHROMIUM_BYTES)
  }, 60_000)
})
