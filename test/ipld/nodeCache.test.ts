/** The bound of decoded nodes: bytes, whatever their number. */
import { describe, expect, it } from 'vitest'
import type { Cid } from '../../src/codec/cid.ts'
import { u64 } from '../../src/codec/description.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { NodeCache, walkBudget } from '../../src/ipld/nodeCache.ts'

describe('NodeCache', () => {
  it('is bounded by bytes, for large nodes and for small', () => {
    const limit = 1_000_000
    for (const blockBytes of [100, 2_000, 40_000]) {
      const cache = new NodeCache(limit)
      for (let i = 0; i < 5_000; i++) cache.set(`${i}`, {}, blockBytes)
      expect(cache.bytes).toBeLessThanOrEqual(limit)
      expect(cache.bytes).toBeGreaterThan(limit / 4)
      expect(cache.get('4999')).toBeDefined()
      expect(cache.get('0')).toBeUndefined()
    }
  })

  it('keeps what is used', () => {
    const cache = new NodeCache(100_000)
    const used = {}
    cache.set('used', used, 1_000)
    for (let i = 0; i < 1_000; i++) {
      cache.set(`${i}`, {}, 1_000)
      expect(cache.get('used')).toBe(used)
    }
  })

  it('counts a node once', () => {
    const cache = new NodeCache(100_000)
    for (let i = 0; i < 1_000; i++) cache.set('same', {}, 1_000)
    expect(cache.bytes).toBeLessThan(10_000)
  })

  it('gives a walk of a whole tree a small part', () => {
    const blocks = new MemoryBlockstore()
    const made = Amt.empty(blocks, u64, { bitWidth: 5 })
    for (let i = 0; i < 30_000; i++) made.set(i, BigInt(i))
    const root = made.flush()
    const nodes = new NodeCache()
    const store = new MemoryBlockstore(nodes)
    for (const [key, data] of blocks.entries()) store.put({ key } as Cid, data)
    let count = 0
    for (const [index, value] of Amt.load(store, root, u64).entries()) count += Number(value) === index ? 1 : 0
    expect(count).toBe(30_000)
    // Of 969 nodes.
    expect(nodes.bytes).toBeLessThan(300 * 7_000)
  })

  it('gives a walk through many small trees no more', () => {
    const blocks = new MemoryBlockstore()
    const roots = Array.from({ length: 500 }, (_, tree) => {
      const made = Hamt.empty(blocks, u64)
      for (let i = 0; i < 40; i++) made.set(Uint8Array.of(tree >> 8, tree, i), BigInt(i))
      return made.flush()
    })
    const nodes = new NodeCache()
    const store = new MemoryBlockstore(nodes)
    for (const [key, data] of blocks.entries()) store.put({ key } as Cid, data)
    const budget = walkBudget()
    let count = 0
    for (const root of roots) for (const _ of Hamt.load(store, root, u64, { budget }).entries()) count++
    expect(count).toBe(500 * 40)
    // Of more than 500 nodes, each of which takes 3,000 at least.
    expect(nodes.bytes).toBeLessThan(300 * 5_000)
    expect(nodes.bytes).toBeGreaterThan(200 * 3_000)
  })
})
