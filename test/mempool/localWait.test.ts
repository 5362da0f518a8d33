/** How long the oldest message of this node has waited. */
import { describe, expect, test } from 'vitest'
import { openTestPool, testMessage } from './fakes.ts'
import { a1, a2, poolWith } from './fundedPool.ts'

describe('the longest wait of a local message', () => {
  test('grows with the head, and ends with the message', async () => {
    const { chain, pool } = await poolWith()
    expect(pool.localWaitEpochs).toBe(0)
    const first = testMessage(a1, a2, 0, 100n)
    await pool.push(first)
    expect(pool.localWaitEpochs).toBe(0)
    chain.mine([])
    chain.mine([])
    const second = testMessage(a1, a2, 1, 100n)
    await pool.push(second)
    chain.mine([])
    expect(pool.localWaitEpochs).toBe(3)
    chain.mine([first])
    expect(pool.localWaitEpochs).toBe(2)
    chain.mine([second])
    expect(pool.localWaitEpochs).toBe(0)
  })

  test('a better message in its place has waited as long', async () => {
    const { chain, pool } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 100n))
    chain.mine([])
    await pool.push(testMessage(a1, a2, 0, 200n))
    chain.mine([])
    expect(pool.localWaitEpochs).toBe(2)
  })

  test('others may keep theirs waiting', async () => {
    const { chain, pool } = await poolWith()
    await pool.add(testMessage(a1, a2, 0, 100n))
    chain.mine([])
    expect(pool.localWaitEpochs).toBe(0)
  })

  test('what comes back from disk waits from then on', async () => {
    const { chain, pool, store } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 100n))
    chain.mine([])
    const again = await openTestPool({ chain, store })
    chain.mine([])
    expect(again.pool.localWaitEpochs).toBe(1)
    await again.pool.clear(true)
    expect(again.pool.localWaitEpochs).toBe(0)
  })
})
