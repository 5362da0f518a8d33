/** The second place of a tab's keys, where the browser has storage buckets. */
import { describe, expect, it } from 'vitest'
import { storageBuckets } from '../../../platform/browser/buckets.ts'
import { type Database, openDatabase } from '../../../platform/browser/database.ts'
import { type KeptSecrets, keptSecrets } from '../../../platform/browser/keyCopy.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { lose, newName, silent } from './lostDatabase.ts'

async function open(name: string, log = silent): Promise<KeptSecrets & { readonly database: Database }> {
  const database = await openDatabase(name)
  return { ...(await keptSecrets(name, database, log)), database }
}

async function contents({ secrets }: KeptSecrets): Promise<Record<string, Uint8Array | undefined>> {
  const names = (await secrets.list()).sort()
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await secrets.read(name)] as const)))
}

/** Runs while the browser's storage buckets are others. */
async function withBuckets(value: unknown, run: () => Promise<void>): Promise<void> {
  Object.defineProperty(navigator, 'storageBuckets', { value, configurable: true })
  try {
    await run()
  } finally {
    // The browser's own is the prototype's.
    Reflect.deleteProperty(navigator, 'storageBuckets')
  }
}

const isWithout = storageBuckets() === undefined

describe.skipIf(isWithout)('keys of a database that was thrown away', () => {
  it('are there again as they last were, once', async () => {
    const name = newName()
    const first = await open(name)
    expect(first.takenBack).toBe(0)
    expect(await first.secrets.create('A', utf8('one'))).toBe(true)
    expect(await first.secrets.create('A', utf8('another'))).toBe(false)
    await first.secrets.create('B', utf8('two'))
    await first.secrets.create('C', utf8('three'))
    await first.secrets.replace('B', utf8('four'))
    expect(await first.secrets.remove('C')).toBe(true)
    await lose(first.database)
    const second = await open(name)
    expect(second.takenBack).toBe(2)
    expect(await contents(second)).toEqual({ A: utf8('one'), B: utf8('four') })
    second.database.close()
    expect((await open(name)).takenBack).toBe(0)
  })

  it('and that were there before there was a copy', async () => {
    const name = newName()
    const old = await openDatabase(name)
    const many = Array.from({ length: 3000 }, (_, index) => [`K${index}`, new Uint8Array(600).fill(index)] as const)
    await old.write(['secrets'], 'strict', (of) => {
      for (const [key, value] of many) of('secrets').put(value, key)
    })
    old.close()
    await lose((await open(name)).database)
    const second = await open(name)
    expect(second.takenBack).toBe(many.length)
    expect(await second.secrets.read('K2999')).toEqual(many[2999]?.[1])
  })

  it('and that were made while another tab started', async () => {
    const name = newName()
    const first = await open(name)
    await first.secrets.create('A', utf8('one'))
    const database = await openDatabase(name)
    const made: Promise<boolean>[] = []
    const isWaited = async (): Promise<boolean> =>
      (await navigator.locks.query()).pending?.some((lock) => lock.name === `${database.name}/keys`) === true
    /** After each read of the keys there is another one, as far as the first tab comes with it meanwhile. */
    const busy: Database = {
      ...database,
      use: (store, durability) => async (mode, callback) => {
        const read = await database.use(store, durability)(mode, callback)
        let isMade = false
        const key = first.secrets.create(`K${made.length}`, utf8('one')).finally(() => {
          isMade = true
        })
        made.push(key)
        while (!isMade && !(await isWaited()));
        return read
      },
    }
    await keptSecrets(name, busy, silent)
    await Promise.all(made)
    expect(made.length).toBeGreaterThan(0)
    database.close()
    await lose(first.database)
    expect((await open(name)).takenBack).toBe(made.length + 1)
  })

  it('whose copy cannot be opened are waited for: nothing begins anew beside them', async () => {
    const name = newName()
    const first = await open(name)
    await first.secrets.create('A', utf8('one'))
    const refused = { open: () => Promise.reject(new DOMException('no room', 'UnknownError')) }
    await withBuckets(refused, async () => {
      // Those that are there need no copy.
      first.database.close()
      const again = await open(name)
      expect(await contents(again)).toEqual({ A: utf8('one') })
      await lose(again.database)
      const lost = await openDatabase(name)
      await expect(keptSecrets(name, lost, silent)).rejects.toMatchObject({ code: 'STORE_FAILED' })
      lost.close()
    })
    expect((await open(name)).takenBack).toBe(1)
  })

  it('half of which had come when the tab was killed', async () => {
    const name = newName()
    const first = await open(name)
    for (const key of ['A', 'B', 'C']) await first.secrets.create(key, utf8(key))
    await lose(first.database)
    const cut = await openDatabase(name)
    const { write } = cut
    const killed: Database = {
      ...cut,
      write: async (stores, durability, run) => {
        let left = 1
        await write(stores, durability, (of) =>
          run((store) => {
            if (left-- > 0) return of(store)
            return { put: () => undefined } as unknown as IDBObjectStore
          }),
        )
        throw new Error('killed')
      },
    }
    await expect(keptSecrets(name, killed, silent)).rejects.toThrow('killed')
    cut.close()
    const second = await open(name)
    expect(second.takenBack).toBe(2)
    expect(await contents(second)).toEqual({ A: utf8('A'), B: utf8('B'), C: utf8('C') })
  })
})

it.skipIf(isWithout)(
  'a copy that cannot be written says so, keeps no key back, and is level with the next change',
  async () => {
    const name = newName()
    const warnings: string[] = []
    const first = await open(name, { ...silent, warn: (text) => void warnings.push(text) })
    await first.secrets.create('A', utf8('one'))
    const { put } = IDBObjectStore.prototype
    const main = first.database.name
    let refused = 0
    IDBObjectStore.prototype.put = function (value, key) {
      // The copy has the same name: the first is the key itself, which is added and not put.
      if (this.transaction.db.name === main) {
        refused++
        throw new DOMException('full', 'QuotaExceededError')
      }
      return put.call(this, value, key)
    }
    try {
      expect(await first.secrets.create('B', utf8('two'))).toBe(true)
    } finally {
      IDBObjectStore.prototype.put = put
    }
    expect(refused).toBe(1)
    expect(warnings).toEqual(['the copy of the keys is behind'])
    await first.secrets.create('C', utf8('three'))
    await lose(first.database)
    expect((await open(name)).takenBack).toBe(3)
  },
)

it('a browser without storage buckets keeps the keys in one place', () =>
  withBuckets(undefined, async () => {
    const one = await open(newName())
    await one.secrets.create('A', utf8('one'))
    expect(await contents(one)).toEqual({ A: utf8('one') })
  }))
