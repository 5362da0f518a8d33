/** A walk over a tree that is elsewhere asks for siblings together, and needs none that it does not come to. */
import { describe, expect, it } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { uint } from '../../src/codec/description.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { type Blockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { type FetchedSteps, type Found, reading, walkFetching } from '../../src/ipld/found.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'

const ENTRIES = 5000

const all = new MemoryBlockstore()
const hamt = Hamt.empty(all, uint)
const amt = Amt.empty(all, uint, { bitWidth: 3 })
for (let i = 0; i < ENTRIES; i++) {
  hamt.set(new Uint8Array([i >> 8, i & 0xff]), i)
  amt.set(3 * i, i)
}
const [hamtRoot, amtRoot] = [hamt.flush(), amt.flush()]

const WALKS: Readonly<Record<string, (store: Blockstore) => number[]>> = {
  'entries of a HAMT': (store) => [...Hamt.load(store, hamtRoot, uint).entries()].map(([, value]) => value),
  'each of a HAMT': (store) => {
    const out: number[] = []
    Hamt.load(store, hamtRoot, uint).forEach((_, value) => void out.push(value))
    return out
  },
  'entries of an AMT': (store) =>
    [...Amt.load(store, amtRoot, uint, { bitWidth: 3 }).entries()].map(([, value]) => value),
  'each of an AMT': (store) => Amt.load(store, amtRoot, uint, { bitWidth: 3 }).values(),
}

function fetcher(
  store: Blockstore,
  has: (cid: Cid) => boolean = () => true,
): { edge: BlockFetcher['run']; calls: number[] } {
  const calls: number[] = []
  const fetch = async (cids: readonly Cid[]): Promise<(readonly [Cid, Uint8Array])[]> => {
    const found = cids.filter(has).map((cid) => [cid, all.get(cid) as Uint8Array] as const)
    calls.push(found.length)
    return found
  }
  return { edge: new BlockFetcher(store, [{ fetch }]).run, calls }
}

for (const nodes of [undefined, new NodeCache()]) {
  describe(`a walk, ${nodes === undefined ? 'nothing kept' : 'nodes kept'}`, () => {
    for (const [name, walk] of Object.entries(WALKS)) {
      it(`${name}: siblings come together`, async () => {
        nodes?.clear()
        const store = new MemoryBlockstore(nodes)
        const own = fetcher(store)
        expect(await own.edge(() => walk(store))).toEqual(walk(all))
        const blocks = own.calls.reduce((sum, count) => sum + count, 0)
        expect(blocks).toBe(store.size)
        expect(own.calls.length).toBeLessThan(blocks / 4)
      })
    }
  })
}

describe('a walk that is asked for more goes on', () => {
  const ways: Readonly<Record<string, (store: Blockstore) => Found<unknown>>> = {
    'entries of a HAMT': (store) => Hamt.load(store, hamtRoot, uint).found(),
    'entries of an AMT': (store) => Amt.load(store, amtRoot, uint, { bitWidth: 3 }).found(),
  }
  it.each(Object.entries(ways))('%s: no block is read again and again', async (_, walk) => {
    const store = new MemoryBlockstore()
    const own = fetcher(store)
    const reads = new Map<string, number>()
    const watched: Blockstore = {
      get: (cid) => {
        const block = store.get(cid)
        if (block !== undefined) reads.set(cid.key, (reads.get(cid.key) ?? 0) + 1)
        return block
      },
      has: (cid) => store.has(cid),
      put: (cid, block) => store.put(cid, block),
    }
    function* gathered(): FetchedSteps<unknown[]> {
      const out: unknown[] = []
      for (const item of yield* reading(() => walk(watched))) {
        if (item instanceof BlockMissing) yield item
        else out.push(item)
        yield
      }
      return out
    }
    const { signal } = new AbortController()
    expect(await walkFetching(gathered(), { walk: finish, edge: own.edge, signal })).toEqual([...walk(all)])
    expect(reads.size).toBe(store.size)
    // Once more to see what its siblings lead to.
    expect(Math.max(...reads.values())).toBeLessThanOrEqual(2)
    await expect(walkFetching(gathered(), { walk: finish, signal })).resolves.toHaveLength(ENTRIES)
  })

  it('says what is nowhere', async () => {
    const none = fetcher(new MemoryBlockstore(), () => false)
    const { signal } = new AbortController()
    const nothing = function* (): FetchedSteps<unknown> {
      return yield* reading(() => Hamt.load(new MemoryBlockstore(), hamtRoot, uint))
    }
    await expect(walkFetching(nothing(), { walk: finish, edge: none.edge, signal })).rejects.toThrow(BlockMissing)
    await expect(walkFetching(nothing(), { walk: finish, signal })).rejects.toThrow(BlockMissing)
  })
})

it('what is not come to need not be there', async () => {
  const first = (store: Blockstore): number | undefined => {
    for (const [, value] of Hamt.load(store, hamtRoot, uint).entries()) return value
    return undefined
  }
  // The way to the first entry, read one block after the other.
  const way = new Set<string>()
  const watched: Blockstore = {
    get: (cid) => {
      way.add(cid.key)
      return all.get(cid)
    },
    has: (cid) => all.has(cid),
    put: () => undefined,
  }
  const expected = first(watched)
  const store = new MemoryBlockstore()
  expect(await fetcher(store, (cid) => way.has(cid.key)).edge(() => first(store))).toBe(expected)
  expect(store.size).toBe(way.size)
  const none = fetcher(new MemoryBlockstore(), () => false)
  await expect(none.edge(() => first(new MemoryBlockstore()))).rejects.toThrow(BlockMissing)
})
