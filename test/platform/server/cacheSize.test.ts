/** All caches of state and blocks together keep to one budget. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { type CacheSizes, cacheOf, cacheSizes, memoryOf, vmThreads } from '../../../platform/server/cacheSize.ts'
import { TRACE_CHARGE_BYTES } from '../../../src/chain/weights.ts'

/** With the thread that comes when the chain itself waits. */
const MOST_THREADS = vmThreads() + 1
const MEBI = 1024 * 1024

function whole({ nodes, traceCharges, threadNodes, threadBlocks }: CacheSizes): number {
  return nodes + TRACE_CHARGE_BYTES * traceCharges + MOST_THREADS * (threadNodes + threadBlocks)
}

describe('memory for caches', () => {
  it('is what was said, of the node and all its threads together', () => {
    for (const mebibytes of [32, 100, 500]) {
      const sizes = cacheSizes(mebibytes)
      expect(whole(sizes)).toBeLessThanOrEqual(mebibytes * MEBI)
      expect(whole(sizes)).toBeGreaterThan(0.7 * mebibytes * MEBI)
      expect(sizes.nodes).toBeLessThanOrEqual(getHeapStatistics().heap_size_limit / 8)
    }
  })

  it('is an eighth of the machine at most where nothing is said, of the container where that has less', () => {
    expect(whole(cacheSizes())).toBeLessThanOrEqual(memoryOf(totalmem(), process.constrainedMemory()) / 8)
    expect(memoryOf(16_000, 512)).toBe(512)
    const little = whole(cacheSizes(cacheOf(undefined, false)))
    expect(little).toBeLessThanOrEqual(Math.min(64 * MEBI, memoryOf(totalmem(), process.constrainedMemory()) / 8))
    expect(little).toBeLessThan(whole(cacheSizes(cacheOf(undefined, true))))
    expect([cacheOf(100, false), cacheOf(100, true)]).toEqual([100, 100])
    // Nobody bounds it: 0, or what a 64-bit number can say.
    for (const constrained of [0, 2 ** 63, 2 ** 64]) expect(memoryOf(16_000, constrained)).toBe(16_000)
  })
})
