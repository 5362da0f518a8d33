/** The shims of platform/browser keep the contracts of the ports. Runs in a worker of Chromium (test/chromium). */
import { createStore, del } from 'idb-keyval'
import { describe, expect, it } from 'vitest'
import { BrowserStores, openBrowserStores } from '../../../platform/browser/browserStores.ts'
import { blobSource, urlSource } from '../../../platform/browser/byteSources.ts'
import { openDatabase } from '../../../platform/browser/database.ts'
import { BrowserError } from '../../../platform/browser/errors.ts'
import { IdbSecrets } from '../../../platform/browser/idbSecrets.ts'
import { openKeys } from '../../../platform/browser/keys.ts'
import { TabProofFiles } from '../../../platform/browser/proofFiles.ts'
import { browserRandom } from '../../../platform/browser/random.ts'
import { StoredBlocks } from '../../../platform/browser/storedBlocks.ts'
import { browserClock, browserTimers } from '../../../platform/browser/time.ts'
import { portableZstd } from '../../../src/archive/zstd.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import type { Logger } from '../../../src/base/ports.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { BlockFetcher } from '../../../src/ipld/blockFetcher.ts'
import { getBlock } from '../../../src/ipld/blockstore.ts'
import { fileName, KEY_FILES } from '../../../src/proofs/keys/parameters.ts'
import type { SecretStore } from '../../../src/wallet/secretStore.ts'
import { blockstoreContract, type OpenBlockstore } from '../../contract/blockstore.ts'
import { byteSourceContract } from '../../contract/byteSource.ts'
import { keyValueStoreContract } from '../../contract/keyValueStore.ts'
import { randomContract, timeContract, zstdContract } from '../../contract/ports.ts'
import { secretStoreContract } from '../../contract/secretStore.ts'

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
let next = 0
const newName = (): string => `test-${Date.now()}-${next++}`

interface Bounds {
  readonly evict?: boolean
  readonly maxMemoryBytes?: number
  readonly maxDiskBytes?: number
  readonly preloadBytes?: number
  readonly onTrouble?: (trouble: BrowserError | undefined) => void
}

async function openStores(name: string, bounds: Bounds = {}): Promise<BrowserStores> {
  return await openBrowserStores({ database: await openDatabase(name), log: silent, evict: false, ...bounds })
}

async function blocksOf(name: string): Promise<OpenBlockstore> {
  const stores = await openStores(name, { preloadBytes: Number.POSITIVE_INFINITY })
  return {
    blocks: stores.blocks,
    close: () => stores.close(),
    reopen: async () => {
      await stores.close()
      return await blocksOf(name)
    },
  }
}

/** A secret store whose database opens with the first call. */
function lazySecrets(): SecretStore {
  const opened = openDatabase(newName()).then((database) => new IdbSecrets(database))
  return {
    list: async () => (await opened).list(),
    read: async (name) => (await opened).read(name),
    create: async (name, content) => (await opened).create(name, content),
    replace: async (name, content) => (await opened).replace(name, content),
    remove: async (name) => (await opened).remove(name),
    sweep: async () => (await opened).sweep(),
  }
}

let lastStore = ''
keyValueStoreContract('IndexedDB', {
  open: async () => {
    lastStore = newName()
    return (await openStores(lastStore)).meta
  },
  reopen: async () => (await openStores(lastStore)).meta,
})
blockstoreContract('IndexedDB', () => blocksOf(newName()))
secretStoreContract('IndexedDB', lazySecrets)
byteSourceContract('file', (content) => blobSource(new Blob([content as Uint8Array<ArrayBuffer>])))
timeContract('browser', browserClock, browserTimers)
randomContract('browser', browserRandom)
zstdContract('portable', portableZstd)

describe('timers', () => {
  it('run soon after the machine has slept, not when the rest of their time is over', async () => {
    const realNow = Date.now
    try {
      const ran = new Promise<void>((resolve) => browserTimers.setTimeout(resolve, 3_600_000))
      const started = performance.now()
      // The wall clock goes on in sleep; the browser's timers and performance.now do not.
      Date.now = () => realNow() + 3_600_000
      await ran
      expect(performance.now() - started).toBeLessThan(8000)
    } finally {
      Date.now = realNow
    }
  })

  it('survive a clock that is set back', async () => {
    const realNow = Date.now
    try {
      const ran = new Promise<void>((resolve) => browserTimers.setTimeout(resolve, 100))
      Date.now = () => realNow() - 3_600_000
      const started = performance.now()
      await ran
      expect(performance.now() - started).toBeLessThan(2000)
    } finally {
      Date.now = realNow
    }
  })
})

/** Blocks of 1,000 bytes. */
function someBlocks(count: number, label: string): [Cid, Uint8Array][] {
  return Array.from({ length: count }, (_, i) => {
    const data = new Uint8Array(1000)
    data.set(utf8(`${label} ${i}`))
    return [blockCid(data), data]
  })
}

describe('blocks in IndexedDB', () => {
  it('are fetched when memory has forgotten them', async () => {
    const name = newName()
    const stores = await openStores(name)
    const blocks = someBlocks(50, 'far')
    for (const [cid, data] of blocks) stores.blocks.put(cid, data)
    await stores.close()
    const again = await openStores(name, { preloadBytes: 0 })
    const [cid, data] = blocks[7]!
    expect(again.blocks.get(cid)).toBeUndefined()
    expect(again.blocks.has(cid)).toBe(false)
    const fetcher = new BlockFetcher(again.blocks, [again.source])
    expect(await fetcher.run(() => getBlock(again.blocks, cid))).toEqual(data)
    // What was read is not written again.
    expect(again.figures.waitingBytes).toBe(0)
    await again.close()
  })

  it('go oldest first above the bound; pinned blocks and the key-value store stay', async () => {
    const name = newName()
    const stores = await openStores(name, { evict: true, maxDiskBytes: 100_000, maxMemoryBytes: 0 })
    const blocks = someBlocks(300, 'old')
    const pinned = blocks[0]!
    stores.pin([pinned[0]])
    stores.meta.put(utf8('head'), utf8('here'))
    for (let i = 0; i < blocks.length; i++) {
      const [cid, data] = blocks[i]!
      stores.blocks.put(cid, data)
      if (i % 10 === 9) await stores.settle()
    }
    await stores.flush()
    expect(stores.figures.blockBytes).toBeLessThanOrEqual(110_000)
    await stores.close()
    const again = await openStores(name, { preloadBytes: Number.POSITIVE_INFINITY })
    expect(again.blocks.has(pinned[0])).toBe(true)
    expect(again.blocks.has(blocks[1]![0])).toBe(false)
    expect(again.blocks.has(blocks.at(-1)![0])).toBe(true)
    expect(again.meta.get(utf8('head'))).toEqual(utf8('here'))
    await again.close()
  })

  it('are stored without the buffer that they are a view of', async () => {
    const name = newName()
    const stores = await openStores(name)
    const large = new Uint8Array(1_000_000)
    const data = large.subarray(10, 20)
    stores.blocks.put(blockCid(data), data)
    await stores.close()
    const again = await openStores(name)
    expect(again.blocks.get(blockCid(data))?.buffer.byteLength).toBe(10)
    await again.close()
  })
})

describe('writes to IndexedDB', () => {
  it('never leave a head whose blocks are missing, wherever the tab ends', async () => {
    const name = newName()
    const stores = await openStores(name)
    const heads = someBlocks(200, 'head')
    for (const [i, [cid, data]] of heads.entries()) {
      stores.blocks.put(cid, data)
      stores.meta.put(utf8('head'), cid.bytes)
      // Not closed, not flushed: another handle sees what a crash would have left.
      if (i % 20 === 5) {
        await new Promise((resolve) => setTimeout(resolve, i % 3))
        const seen = await openStores(name, { preloadBytes: Number.POSITIVE_INFINITY })
        const head = seen.meta.get(utf8('head'))
        if (head !== undefined) {
          const named = heads.find(([one]) => one.bytes.every((byte, at) => byte === head[at]))
          expect(named === undefined ? false : seen.blocks.has(named[0])).toBe(true)
        }
        await seen.close()
      }
    }
    await stores.close()
  })

  it('are there once settle resolves', async () => {
    const name = newName()
    const stores = await openStores(name)
    const [[cid, data]] = someBlocks(1, 'settled') as [[Cid, Uint8Array]]
    stores.blocks.put(cid, data)
    stores.meta.put(utf8('key'), utf8('value'))
    await stores.settle()
    expect(stores.settle()).toBeUndefined()
    const seen = await openStores(name)
    expect(seen.meta.get(utf8('key'))).toEqual(utf8('value'))
    expect(seen.blocks.get(cid)).toEqual(data)
    await seen.close()
    await stores.close()
  })
})

describe('a full quota', () => {
  /** A database that refuses writes of blocks above a sum, as a browser does. */
  it('decodes no more into memory than its blocks may take', async () => {
    const bytes = 1024 * 1024
    const stores = await openStores(newName(), { maxMemoryBytes: bytes })
    const { nodes } = stores.blocks
    if (nodes === undefined) throw new Error('there is no cache of nodes')
    for (let i = 0; i < 100; i++) nodes.keep(String(i), {}, bytes / 10)
    expect(nodes.bytes).toBeLessThanOrEqual(bytes)
    expect(nodes.bytes).toBeGreaterThan(bytes / 4)
    await stores.close()
  })

  async function limited(name: string, bytes: () => number, bounds: Bounds): Promise<BrowserStores> {
    const database = await openDatabase(name)
    const stored = await StoredBlocks.load(database)
    const stores = new BrowserStores(
      {
        log: silent,
        evict: false,
        ...bounds,
        database: {
          ...database,
          write: (names, durability, run) => {
            if (names.includes('meta') && stored.bytes > bytes())
              return Promise.reject(new BrowserError('STORE_FULL', 'Cannot write to the store: quota'))
            return database.write(names, durability, run)
          },
        },
      },
      stored,
      [],
    )
    return stores
  }

  it('makes room where blocks can be had again', async () => {
    const troubles: unknown[] = []
    const stores = await limited(newName(), () => 50_000, {
      evict: true,
      maxMemoryBytes: 0,
      onTrouble: (one) => troubles.push(one),
    })
    for (const [cid, data] of someBlocks(60, 'a')) stores.blocks.put(cid, data)
    await stores.flush()
    for (const [cid, data] of someBlocks(10, 'b')) stores.blocks.put(cid, data)
    await stores.flush()
    expect(stores.figures.blockBytes).toBeLessThan(70_000)
    expect(troubles).toEqual([])
    await stores.close()
  })

  it('is told where nothing can go, and what waits is written when there is room', async () => {
    let quota = 50_000
    const troubles: (string | undefined)[] = []
    const name = newName()
    const { promise: mended, resolve: isMended } = Promise.withResolvers<void>()
    const onTrouble = (one: BrowserError | undefined): void => {
      troubles.push(one?.code)
      if (one === undefined) isMended()
    }
    const stores = await limited(name, () => quota, { onTrouble })
    for (const [cid, data] of someBlocks(60, 'a')) stores.blocks.put(cid, data)
    await stores.flush()
    stores.meta.put(utf8('message'), utf8('signed'))
    await expect(stores.flush()).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(stores.trouble?.code).toBe('STORE_FULL')
    // Nobody else has the blocks: nothing goes on, not even where it takes no room.
    const [[cid, data]] = someBlocks(1, 'b') as [[Cid, Uint8Array]]
    for (const write of [
      () => stores.blocks.put(cid, data),
      () => stores.meta.put(utf8('another'), utf8('one')),
      () => stores.meta.put(utf8('message'), utf8('others')),
    ])
      expect(write).toThrow(expect.objectContaining({ code: 'STORE_FULL' }))
    await expect(stores.meta.commit([{ op: 'put', key: utf8('another'), value: utf8('one') }])).rejects.toThrow('quota')
    expect(stores.meta.get(utf8('another'))).toBeUndefined()
    quota = 100_000
    // By itself: nobody writes any more.
    await mended
    expect(troubles).toEqual(['STORE_FULL', undefined])
    stores.meta.put(utf8('another'), utf8('one'))
    await stores.close()
    const again = await openStores(name)
    expect(again.meta.get(utf8('message'))).toEqual(utf8('signed'))
    await again.close()
  })
})

describe('keys', () => {
  it('are never in clear in the database', async () => {
    const database = await openDatabase(newName())
    const secrets = new IdbSecrets(database)
    const { keystore, state } = await openKeys(secrets, 'correct horse', silent)
    expect(state).toBe('sealed')
    const privateKey = new Uint8Array(32).fill(7)
    await keystore.put('wallet-f1x', { type: 'secp256k1', privateKey })
    const names = await secrets.list()
    expect(names.length).toBe(2)
    for (const name of names) {
      const text = new TextDecoder().decode(await secrets.read(name))
      expect(text).toContain('"Petrel":"sealed-1"')
      expect(text).not.toContain('PrivateKey')
      expect(text).not.toContain('BwcHBwcH')
    }
    await expect(openKeys(secrets, 'wrong', silent)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' })
    expect((await openKeys(secrets, undefined, silent)).state).toBe('locked')
    const again = await openKeys(secrets, 'correct horse', silent)
    expect((await again.keystore.get('wallet-f1x')).privateKey).toEqual(privateKey)
    database.close()
  })

  it('without a passphrase stay in memory', async () => {
    const database = await openDatabase(newName())
    const secrets = new IdbSecrets(database)
    const { keystore, state } = await openKeys(secrets, undefined, silent)
    expect(state).toBe('memory')
    await keystore.put('wallet-f1x', { type: 'secp256k1', privateKey: new Uint8Array(32).fill(7) })
    expect(await secrets.list()).toEqual([])
    database.close()
  })
})

describe('an address', () => {
  it('is read by ranges', () => {
    const url = new URL('/root/package.json', location.href)
    const source = urlSource(url)
    const text = new TextDecoder().decode(source.read(0, source.size))
    expect(JSON.parse(text)).toMatchObject({ name: 'petrel' })
    expect(new TextDecoder().decode(source.read(text.indexOf('petrel'), 6))).toBe('petrel')
  })

  it('that answers no ranges, or is not there, is refused', () => {
    expect(() => urlSource(new URL('/whole/root/package.json', location.href))).toThrow('range requests')
    expect(() => urlSource(new URL('/root/nothing', location.href))).toThrow('status 404')
  })
})

describe('keys of storage proofs', () => {
  it('are kept once they are there, and not taken with another digest', async () => {
    const [first] = KEY_FILES
    if (first === undefined) throw new BrowserError('STORE_FAILED', 'no keys are known')
    const name = fileName(first)
    const store = createStore('petrel-proofs', 'keys')
    await del(name, store)
    const { promise: refused, resolve } = Promise.withResolvers<string>()
    const log: Logger = { ...silent, info: (_message, info) => resolve(String(info?.reason)) }
    // The CID itself comes back, which is no key.
    const files = await TabProofFiles.open(log, ['data:application/octet-stream,'])
    expect(files.read(name)).toBeUndefined()
    expect(await refused).toContain('its digest is')
    expect(files.has(name)).toBe(false)
    // One that is the right one.
    const taking = await TabProofFiles.open(silent, ['data:application/octet-stream,'], () => undefined)
    await taking.fetch(first)
    expect(taking.read(name)).toEqual(utf8(first.cid))
    const again = await TabProofFiles.open(silent, [])
    expect(again.read(name)).toEqual(utf8(first.cid))
    await del(name, store)
  })
})
