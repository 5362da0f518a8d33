/** Which messages leave a pool that is too full. */
import { describe, expect, test } from 'vitest'
import { keyAddress, type TestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL, poolWith } from './fundedPool.ts'

describe('too many messages', () => {
  const limits = { sizeLimitHigh: 40, sizeLimitLow: 10 }
  async function crowded(): Promise<TestPool> {
    const opened = await poolWith()
    await opened.pool.setConfig({ ...opened.pool.config(), ...limits })
    return opened
  }

  test('the least gas goes first, down to the low mark', async () => {
    const { chain, pool } = await crowded()
    for (let i = 0; i < 50; i++) {
      const sender = keyAddress(100 + i)
      chain.setActor(sender, 0n, FIL)
      await pool.add(testMessage(sender, a1, 0, BigInt(10 + i)))
    }
    await pool.prune()
    const left = pool.pending().messages
    expect(left).toHaveLength(limits.sizeLimitLow)
    expect(left.every((one) => one.message.gasPremium >= 50n)).toBe(true)
  })

  test('gaps go before anything else, ours never', async () => {
    const { pool } = await crowded()
    for (let i = 0; i < 5; i++) await pool.push(testMessage(a1, a2, i * 2, 1n))
    await pool.add(testMessage(a2, a1, 1, 10_000n))
    await pool.prune()
    expect(pool.size).toBe(5)
    expect(pool.pending().messages.every((one) => one.message.from.equals(a1))).toBe(true)
  })

  test('happens by itself, at most once per cooldown', async () => {
    const { chain, pool, time } = await crowded()
    let sender = 200
    const flood = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const from = keyAddress(sender++)
        chain.setActor(from, 0n, FIL)
        await pool.add(testMessage(from, a1, 0, 10n))
      }
      await time.pass(0)
    }
    await flood(41)
    expect(pool.size).toBe(10)
    await flood(35)
    expect(pool.size).toBe(45)
    await time.pass(60_000)
    await flood(1)
    expect(pool.size).toBe(10)
  })
})
