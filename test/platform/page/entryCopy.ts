/** The second place of what a following tab's node alone knows, where the browser has storage buckets. */
import { describe, expect, it } from 'vitest'
import { type BrowserStores, openBrowserStores } from '../../../platform/browser/browserStores.ts'
import { storageBuckets } from '../../../platform/browser/buckets.ts'
import { type Database, openDatabase } from '../../../platform/browser/database.ts'
import { CopiedStore, takeEntriesBack } from '../../../platform/browser/entryCopy.ts'
import { keptSecrets } from '../../../platform/browser/keyCopy.ts'
import { fromUtf8, utf8 } from '../../../src/base/bytes.ts'
import type { KeyValueOp, KeyValueStore } from '../../../src/base/ports.ts'
import { LOCAL_MESSAGE_PREFIX, NEXT_NONCE_PREFIX, SEND_ID_PREFIX } from '../../../src/mempool/storeKeys.ts'
import { lose, newName, silent } from './lostDatabase.ts'

const MESSAGE = `${LOCAL_MESSAGE_PREFIX}bafy1`
const NONCE = `${NEXT_NONCE_PREFIX}f1a`
const SEND = `${SEND_ID_PREFIX}8b7e`

interface Opened {
  readonly database: Database
  readonly stores: BrowserStores
  readonly meta: CopiedStore
  readonly takenBack: number
}

async function open(name: string, { genesis = 'bafygenesis', log = silent } = {}): Promise<Opened> {
  const database = await openDatabase(name)
  const { copy } = await keptSecrets(name, database, log)
  if (copy === undefined) throw new Error('no copy')
  const places = { database, copy, genesis, log }
  const takenBack = await takeEntriesBack(places)
  const stores = await openBrowserStores({ database, log, evict: true })
  return { database, stores, meta: new CopiedStore(stores.meta, places), takenBack }
}

const put = (key: string, value: string): KeyValueOp => ({ op: 'put', key: utf8(key), value: utf8(value) })
const all = (store: KeyValueStore): Record<string, string> =>
  Object.fromEntries([...store.keys()].map((key) => [fromUtf8(key), fromUtf8(store.get(key) as Uint8Array)]))

/** As a loss of the database does, in the midst of everything. */
async function end({ stores, meta, database }: Opened): Promise<void> {
  await stores.settle()
  await meta.flush()
  await lose(database)
}

describe.skipIf(storageBuckets() === undefined)('entries of a database that was thrown away', () => {
  it('are there again as they last were, and no others', async () => {
    const name = newName()
    const first = await open(name)
    expect(first.takenBack).toBe(0)
    await first.meta.commit([put(MESSAGE, 'one'), put(SEND, 'sent'), put(NONCE, '1')])
    await first.meta.commit([put(NONCE, '2'), { op: 'delete', key: utf8(MESSAGE) }])
    first.meta.put(utf8('payments/channel/f2'), utf8('voucher'))
    first.meta.put(utf8('auth/revoked/9'), utf8(''))
    for (const key of ['chain/head', 'sync/valid/1', 'gc/last', 'f3/1', 'p2p/peer/a', '/mpool/stranger/b'])
      first.meta.put(utf8(key), utf8('told'))
    await end(first)
    const second = await open(name)
    expect(second.takenBack).toBe(4)
    expect(all(second.meta)).toEqual({
      [SEND]: 'sent',
      [NONCE]: '2',
      'payments/channel/f2': 'voucher',
      'auth/revoked/9': '',
    })
    // Nothing comes back that was taken away since.
    await second.meta.commit([{ op: 'delete', key: utf8(SEND) }])
    await second.meta.close()
    const third = await open(name)
    expect(third.takenBack).toBe(0)
    expect(all(third.meta)[SEND]).toBeUndefined()
    await end(third)
    expect((await open(name)).takenBack).toBe(3)
  })

  it('are not given to another network', async () => {
    const name = newName()
    const first = await open(name)
    await first.meta.commit([put(MESSAGE, 'one')])
    await end(first)
    const other = await open(name, { genesis: 'bafyother' })
    expect(other.takenBack).toBe(0)
    await other.meta.commit([put(SEND, 'other')])
    await end(other)
    expect(all((await open(name)).meta)).toEqual({ [MESSAGE]: 'one' })
  })

  it('and that were there before there was a copy', async () => {
    const name = newName()
    const database = await openDatabase(name)
    const before = await openBrowserStores({ database, log: silent, evict: true })
    const many = Array.from({ length: 9000 }, (_, index) => put(`${SEND_ID_PREFIX}${index}`, 'x'.repeat(300)))
    before.meta.batch(many)
    await before.close()
    const first = await open(name)
    // What comes next has to wait for them.
    await first.meta.commit([put(NONCE, '7')])
    await end(first)
    const second = await open(name)
    expect(second.takenBack).toBe(many.length + 1)
    expect([...second.meta.keys()]).toHaveLength(many.length + 1)
  })

  it('half of which had come when the tab was killed', async () => {
    const name = newName()
    const first = await open(name)
    const many = Array.from({ length: 4000 }, (_, index) => put(`${SEND_ID_PREFIX}${index}`, 'x'.repeat(300)))
    first.meta.batch(many)
    await end(first)
    const cut = await openDatabase(name)
    const { copy } = await keptSecrets(name, cut, silent)
    let writes = 0
    const killed: Database = {
      ...cut,
      write: async (...args) => {
        if (writes++ > 0) throw new Error('killed')
        await cut.write(...args)
      },
    }
    const places = { database: killed, copy: copy as Database, genesis: 'bafygenesis', log: silent }
    await expect(takeEntriesBack(places)).rejects.toThrow('killed')
    cut.close()
    const second = await open(name)
    expect(second.takenBack).toBeGreaterThan(0)
    expect(second.takenBack).toBeLessThan(many.length)
    expect([...second.meta.keys()]).toHaveLength(many.length)
  })
})

/** Runs while writes to all databases of this name, or to the copy alone, are refused. */
async function refusing(
  where: 'main' | 'copy',
  { database }: Pick<Opened, 'database'>,
  run: () => Promise<void>,
): Promise<void> {
  const { put: before } = IDBObjectStore.prototype
  const isCopy = new Set<IDBDatabase>()
  IDBObjectStore.prototype.put = function (value, key) {
    const { db } = this.transaction
    // Names in the copy begin with the network.
    if (String(key).startsWith('bafygenesis/')) isCopy.add(db)
    if (db.name === database.name && isCopy.has(db) === (where === 'copy'))
      throw new DOMException('full', 'QuotaExceededError')
    return before.call(this, value, key)
  }
  try {
    await run()
  } finally {
    IDBObjectStore.prototype.put = before
  }
}

describe.skipIf(storageBuckets() === undefined)('a copy of entries', () => {
  it('that cannot be written says so once, keeps nothing back, and is level with the next change', async () => {
    const name = newName()
    const warnings: string[] = []
    const first = await open(name, { log: { ...silent, warn: (text) => void warnings.push(text) } })
    await first.meta.commit([put(MESSAGE, 'one')])
    await refusing('copy', first, async () => {
      await first.meta.commit([put(SEND, 'two')])
      await first.meta.commit([put(NONCE, '3')])
      expect(first.meta.settle()).toBeUndefined()
    })
    expect(warnings).toEqual(['the copy of messages is behind'])
    await first.meta.commit([put(NONCE, '4')])
    await end(first)
    expect(all((await open(name)).meta)).toEqual({ [MESSAGE]: 'one', [SEND]: 'two', [NONCE]: '4' })
  })

  it('is none that a full disk needs to be written for', async () => {
    const name = newName()
    const database = await openDatabase(name)
    const before = await openBrowserStores({ database, log: silent, evict: true })
    before.meta.put(utf8(MESSAGE), utf8('one'))
    await before.close()
    const full = await openDatabase(name)
    const places = { genesis: 'bafygenesis', log: silent }
    await refusing('main', { database: full }, async () => {
      const { copy } = await keptSecrets(name, full, silent)
      expect(await takeEntriesBack({ ...places, database: full, copy: copy as Database })).toBe(0)
    })
    // But what cannot be given back keeps the node from beginning without it.
    full.close()
    await end(await open(name))
    const lost = await openDatabase(name)
    const { copy } = await keptSecrets(name, lost, silent)
    await refusing('main', { database: lost }, async () => {
      const taken = takeEntriesBack({ ...places, database: lost, copy: copy as Database })
      await expect(taken).rejects.toMatchObject({ code: 'STORE_FULL' })
    })
    lost.close()
    expect((await open(name)).takenBack).toBe(1)
  })

  it('has nothing of a commit that failed', async () => {
    const name = newName()
    const first = await open(name)
    await first.meta.commit([put(NONCE, '1')])
    await refusing('main', first, async () => {
      await expect(first.meta.commit([put(SEND, 'refused'), put(NONCE, '2')])).rejects.toMatchObject({
        code: 'STORE_FULL',
      })
    })
    await first.meta.commit([put(MESSAGE, 'one')])
    await end(first)
    expect(all((await open(name)).meta)).toEqual({ [NONCE]: '1', [MESSAGE]: 'one' })
  })
})
