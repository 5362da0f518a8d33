/** How many threads may answer reads. */
import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readThreads } from '../../../platform/server/readers/readers.ts'
import { SharedCounts } from '../../../platform/server/readers/sharedCounts.ts'
import { MAX_READ_THREADS } from '../../../src/base/bounds.ts'

describe('threads that answer reads', () => {
  it.each([
    [1, 0],
    [2, 1],
    [8, 7],
    [MAX_READ_THREADS + 1, MAX_READ_THREADS],
    [MAX_READ_THREADS + 2, MAX_READ_THREADS],
    [256, MAX_READ_THREADS],
  ])('of %i processors, where nothing is said: %i', (processors, threads) => {
    expect(readThreads(undefined, true, processors)).toBe(threads)
  })

  it('are by default those of this machine', () => {
    expect(readThreads(undefined, true)).toBe(Math.min(MAX_READ_THREADS, availableParallelism() - 1))
  })

  it('are as many as were asked for, whatever the machine has: none, or all', () => {
    expect([0, 3, MAX_READ_THREADS].map((asked) => readThreads(asked, true, 2))).toEqual([0, 3, MAX_READ_THREADS])
  })

  it('are none where ports cannot be shared, and refused where they are asked for there', () => {
    expect([readThreads(undefined, false, 8), readThreads(0, false, 8)]).toEqual([0, 0])
    expect(() => readThreads(1, false, 8)).toThrow('not supported: --rpc-threads in this runtime or on this system')
  })

  it('have each a row to count in, up to the last', () => {
    const node = SharedCounts.create()
    const rows = Array.from({ length: MAX_READ_THREADS }, (_, i) => new SharedCounts(node.cells, i + 1))
    for (const row of rows) row.calls('stream')?.runningOfCaller('somebody').add(1)
    expect(node.calls('stream')?.runningOfCaller('somebody').total()).toBe(MAX_READ_THREADS)
    node.closed(MAX_READ_THREADS)
    expect(node.calls('stream')?.runningOfCaller('somebody').total()).toBe(MAX_READ_THREADS - 1)
  })
})
