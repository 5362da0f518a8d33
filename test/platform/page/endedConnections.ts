/** Connections to IndexedDB that the browser ends. */
import { describe, expect, it } from 'vitest'
import { type BrowserStores, openBrowserStores } from '../../../platform/browser/browserStores.ts'
import { openDatabase } from '../../../platform/browser/database.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import type { Logger } from '../../../src/base/ports.ts'

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
let next = 1
const newName = (): string => `ended-${Date.now()}-${next++}`

async function openStores(name: string): Promise<BrowserStores> {
  return openBrowserStores({ database: await openDatabase(name), log: silent, evict: false })
}

describe('a connection that the browser ends, as it does where a disk fails', () => {
  /** Ends it when it is next used. */
  function endNext(): void {
    const real = IDBDatabase.prototype.transaction
    IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...args) {
      IDBDatabase.prototype.transaction = real
      this.close()
      return real.apply(this, args)
    }
  }

  it('is made anew', async () => {
    const name = newName()
    const stores = await openStores(name)
    stores.meta.put(utf8('key'), utf8('one'))
    await stores.flush()
    endNext()
    stores.meta.put(utf8('key'), utf8('two'))
    await stores.flush()
    const seen = await openStores(name)
    expect(seen.meta.get(utf8('key'))).toEqual(utf8('two'))
    await seen.close()
    await stores.close()
  })

  it('to a database that was removed meanwhile is not: an empty one would be taken for it', async () => {
    const name = newName()
    const database = await openDatabase(name)
    endNext()
    const real = indexedDB.open
    // Under its name there is nothing any more.
    indexedDB.open = () => real.call(indexedDB, newName(), 1)
    try {
      await expect(database.use('meta')('readonly', (store) => store.count())).rejects.toThrow('has removed it')
    } finally {
      indexedDB.open = real
    }
    // It is asked for again, and may be there after all.
    await database.write(['meta'], 'relaxed', (of) => of('meta').put(1, 'key'))
    database.close()
  })
})
