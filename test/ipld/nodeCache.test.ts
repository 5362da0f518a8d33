/** The bound of decoded nodes: bytes, whatever their number. */
import { describe, expect, it } from 'vitest'
import { NodeCache } from '../../src/ipld/nodeCache.ts'

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
})
