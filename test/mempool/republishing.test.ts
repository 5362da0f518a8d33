/** When the pool publishes its own messages again. */
import { describe, expect, test } from 'vitest'
import { testMessage } from './fakes.ts'
import { a1, a2, FIL, poolWith } from './fundedPool.ts'

describe('republishing', () => {
  test('ours every 310 s, with a pause between messages', async () => {
    const { pool, published, time } = await poolWith()
    for (const nonce of [0, 1, 2]) await pool.push(testMessage(a1, a2, nonce, 1000n))
    await pool.add(testMessage(a2, a1, 0, 1000n))
    expect(published).toHaveLength(3)
    await time.pass(310_000)
    expect(published).toHaveLength(4)
    await time.pass(200)
    expect(published).toHaveLength(6)
  })

  test('at once when a republished one lands', async () => {
    const { chain, pool, published, time } = await poolWith()
    const messages = [0, 1].map((nonce) => testMessage(a1, a2, nonce, 1000n))
    for (const one of messages) await pool.push(one)
    const sent = pool.republish()
    await time.pass(1000)
    await sent
    const before = published.length
    chain.setActor(a1, 1n, FIL)
    chain.mine(messages.slice(0, 1))
    await time.pass(100)
    expect(published.length).toBe(before + 1)
  })
})
