/** What caches count is told as they count it: the node's, each of the machine's threads', and what threads of reads have together. */
import { describe, expect, it } from 'vitest'
import { registerProcessMetrics } from '../../../platform/server/processMetrics.ts'
import { SharedCounts } from '../../../platform/server/readers/sharedCounts.ts'
import { SHARED, ThreadHeaps } from '../../../platform/server/vmThreads.ts'
import { Metrics } from '../../../src/base/metrics.ts'
import { NodeCache } from '../../../src/ipld/nodeCache.ts'
import { parsePrometheus } from '../../support/prometheus.ts'

const KIBI = 1024

describe('the figure of caches', () => {
  it('is the bytes of each thread, and of those that read together', () => {
    const heaps = new ThreadHeaps()
    const nodes = new NodeCache()
    const counts = SharedCounts.create()
    const metrics = new Metrics()
    registerProcessMetrics(metrics, '.', 0, { heaps, nodes, readersKib: counts.cacheKib })
    const read = (): Record<string, string | undefined> => {
      const family = parsePrometheus(metrics.text()).find(({ name }) => name === 'petrel_cache_bytes')
      return Object.fromEntries((family?.metrics ?? []).map(({ labels, value }) => [labels?.thread, value]))
    }
    expect(read()).toEqual({ main: '0', reads: '0' })
    nodes.keep('of several blocks', {}, 123_457)
    const machine = new Int32Array(Object.keys(SHARED).length)
    machine[SHARED.heapKib] = 7_000
    machine[SHARED.cacheKib] = 55
    heaps.add(machine)
    for (const row of [1, 2]) new SharedCounts(counts.cells, row).cacheKib.add(20)
    expect(read()).toEqual({ main: '123457', 'vm-1': `${55 * KIBI}`, reads: `${40 * KIBI}` })
    // What a thread had that has died is nobody's.
    counts.closed(2)
    heaps.delete(machine)
    expect(read()).toEqual({ main: '123457', reads: `${20 * KIBI}` })
  })

  it('leaves out what there is none of', () => {
    const metrics = new Metrics()
    registerProcessMetrics(metrics, '.', 0, { heaps: new ThreadHeaps(), nodes: undefined, readersKib: undefined })
    expect(metrics.text()).not.toMatch(/^petrel_cache_bytes/m)
  })
})
