/** Messages for a block on a tipset that is not the pool's own. */
import { describe, expect, test } from 'vitest'
import type { Steps } from '../../src/base/steps.ts'
import { MAX_SELECT_TIPSETS } from '../../src/mempool/limits.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { testMessage } from './fakes.ts'
import { a1, a2, poolWith } from './fundedPool.ts'

describe('a tipset far below the pool', () => {
  test('is chosen for up to a bound, a tipset a step', async () => {
    const { chain, pool } = await poolWith()
    await pool.add(testMessage(a1, a2, 0, 10n))
    const below: Tipset[] = [chain.head()]
    for (let i = 0; i <= MAX_SELECT_TIPSETS; i++) below.push(chain.mine([]))
    let steps = 0
    const walk = <T>(all: Steps<T>): T => {
      for (;;) {
        const next = all.next()
        if (next.done === true) return next.value
        steps++
      }
    }
    expect(await pool.select(below[1] as Tipset, 1, walk)).toHaveLength(1)
    expect(steps).toBeGreaterThanOrEqual(MAX_SELECT_TIPSETS)
    await expect(pool.select(below[0] as Tipset, 1, walk)).rejects.toMatchObject({ code: 'PATH_TOO_LONG' })
  })

  test('costs nobody a message when the pool holds more than it should', async () => {
    const { chain, pool } = await poolWith()
    const before = chain.head()
    chain.mine([])
    for (let nonce = 0; nonce < 4; nonce++) await pool.add(testMessage(a1, a2, nonce, 10n))
    await pool.setConfig({ ...pool.config(), sizeLimitHigh: 2, sizeLimitLow: 1 })
    await pool.select(before, 1)
    expect(pool.size).toBe(4)
    await pool.select(chain.head(), 1)
    expect(pool.size).toBeLessThan(4)
  })
})
