/** The stores of a tab, over a database whose transactions a test holds up or breaks. */
import { describe, expect, it } from 'vitest'
import { BrowserStores, type BrowserStoresOptions } from '../../platform/browser/browserStores.ts'
import type { Database, StoreOf } from '../../platform/browser/database.ts'
import { BrowserError } from '../../platform/browser/errors.ts'
import { StoredBlocks } from '../../platform/browser/storedBlocks.ts'
import { utf8 } from '../../src/base/bytes.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { silentLog } from '../rpc/stubTable.ts'

const BLOCK_BYTES = 500
/** Ten blocks; above it the oldest go. */
const MAX_DISK_BYTES = 10 * BLOCK_BYTES

/** A database in memory. Changes are made when their transaction is let through. */
class HeldDatabase implements Database {
  readonly name = 'held'
  readonly wasMade = false
  readonly blocks = new Map<unknown, unknown>()
  transactions = 0
  /** Runs inside each transaction, before it commits; what it throws breaks it. */
  during: (deletes: number) => Promise<void> | void = () => undefined

  use(): never {
    throw new Error('nothing is read')
  }

  async write(_stores: readonly string[], _durability: string, run: (of: StoreOf) => void): Promise<void> {
    const puts: [unknown, unknown][] = []
    const deletes: unknown[] = []
    const store = (isBlocks: boolean) => ({
      put: (value: unknown, key: unknown) => isBlocks && puts.push([key, value]),
      delete: (key: unknown) => isBlocks && deletes.push(key),
    })
    run((name) => store(name === 'blocks') as unknown as ReturnType<StoreOf>)
    this.transactions++
    await this.during(deletes.length)
    for (const key of deletes) this.blocks.delete(key)
    for (const [key, value] of puts) this.blocks.set(key, value)
  }

  turn(): Promise<void> {
    return Promise.resolve()
  }

  close(): void {}
}

function block(label: string): [Cid, Uint8Array] {
  const data = new Uint8Array(BLOCK_BYTES)
  data.set(utf8(label))
  return [blockCid(data), data]
}

function openHeld(bounds: Partial<BrowserStoresOptions> = {}): { database: HeldDatabase; stores: BrowserStores } {
  const database = new HeldDatabase()
  const options = { database, log: silentLog, evict: true, maxDiskBytes: MAX_DISK_BYTES, maxMemoryBytes: 0, ...bounds }
  return { database, stores: new BrowserStores(options, new StoredBlocks(), []) }
}

/** As many blocks as there may be, each in a transaction of its own. */
async function fill(stores: BrowserStores): Promise<[Cid, Uint8Array][]> {
  const blocks = Array.from({ length: MAX_DISK_BYTES / BLOCK_BYTES }, (_, i) => block(`old ${i}`))
  for (const one of blocks) {
    stores.blocks.put(...one)
    await stores.flush()
  }
  return blocks
}

describe('a block that is evicted', () => {
  it('is in the database when it was put again while it went', async () => {
    const { database, stores } = openHeld()
    const [first] = await fill(stores)
    let evictions = 0
    database.during = (deletes) => {
      if (deletes > 0 && evictions++ === 0) stores.blocks.put(...first!)
    }
    stores.blocks.put(...block('one more'))
    await stores.flush()
    expect(evictions).toBe(1)
    await stores.flush()
    expect(database.blocks.has(first![0].key)).toBe(true)
  })

  it('is in the database when it was put again while memory had it still', async () => {
    const { database, stores } = openHeld({ maxMemoryBytes: 100 * MAX_DISK_BYTES })
    const [first] = await fill(stores)
    stores.blocks.put(...block('one more'))
    await stores.flush()
    expect(database.blocks.has(first![0].key)).toBe(false)
    expect(stores.blocks.has(first![0])).toBe(true)
    stores.blocks.put(...first!)
    await stores.flush()
    expect(database.blocks.has(first![0].key)).toBe(true)
  })

  it('stays, and counts once, when the eviction fails', async () => {
    const { database, stores } = openHeld()
    const [first] = await fill(stores)
    database.during = (deletes) => {
      if (deletes === 0) return
      stores.blocks.put(...first!)
      throw new BrowserError('STORE_FAILED', 'Cannot write to the store: a broken transaction')
    }
    const [cid, data] = block('one more')
    stores.blocks.put(cid, data)
    await expect(stores.flush()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(stores.figures).toEqual({ blocks: 10, blockBytes: MAX_DISK_BYTES, waitingBytes: BLOCK_BYTES })
    // Nothing can go now, and the block that waits is written all the same.
    stores.pin([cid, first![0]])
    database.during = () => undefined
    await stores.flush()
    expect(database.blocks.has(cid.key)).toBe(true)
    expect(database.blocks.has(first![0].key)).toBe(true)
    expect(stores.figures.blockBytes).toBe(database.blocks.size * BLOCK_BYTES)
  })
})

describe('writes that never cease', () => {
  /** Each transaction finds another block when it is over, as long as a test would wait. */
  function openBusy(): { database: HeldDatabase; stores: BrowserStores } {
    const { database, stores } = openHeld()
    database.during = () => {
      if (database.transactions >= 50) return
      stores.blocks.put(...block(`busy ${database.transactions}`))
      void stores.settle()
    }
    return { database, stores }
  }

  it('do not keep settle from telling that what was due is written', async () => {
    const { database, stores } = openBusy()
    const [cid, data] = block('due')
    stores.blocks.put(cid, data)
    await stores.settle()
    expect(database.blocks.has(cid.key)).toBe(true)
    expect(database.transactions).toBeLessThan(5)
    await stores.close()
  })

  it('do not keep a flush from its end, and a close writes all of them', async () => {
    const { database, stores } = openBusy()
    stores.blocks.put(...block('under way'))
    void stores.settle()
    const [cid, data] = block('flushed')
    stores.blocks.put(cid, data)
    await stores.flush()
    expect(database.blocks.has(cid.key)).toBe(true)
    expect(database.transactions).toBeLessThan(5)
    await stores.close()
    expect(database.transactions).toBeGreaterThanOrEqual(50)
    expect(stores.figures.waitingBytes).toBe(0)
  })

  it('are told apart: a write that fails is no failure of the one behind it', async () => {
    const { database, stores } = openHeld()
    let second: Promise<void> | undefined
    database.during = () => {
      if (database.transactions > 1) return
      stores.blocks.put(...block('second'))
      second = stores.settle()
      throw new BrowserError('STORE_FAILED', 'Cannot write to the store: a broken transaction')
    }
    stores.blocks.put(...block('first'))
    await expect(stores.settle()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await second
    expect(database.blocks.size).toBe(2)
    expect(stores.trouble).toBeUndefined()
  })

  it('that fail are taken back, but for what was written again since', async () => {
    const { database, stores } = openHeld()
    const [one, two, first, later] = ['one', 'two', 'first', 'later'].map(utf8) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ]
    stores.meta.put(two, first)
    database.during = () => {
      database.during = () => undefined
      stores.meta.put(one, later)
      throw new BrowserError('STORE_FAILED', 'Cannot write to the store: a broken transaction')
    }
    const writes = [one, two].map((key) => ({ op: 'put', key, value: utf8('committed') }) as const)
    await expect(stores.meta.commit(writes)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(stores.meta.get(one)).toEqual(later)
    expect(stores.meta.get(two)).toEqual(first)
  })
})
