/** Checks of many messages: anybody may ask for them. */
import { describe, expect, test } from 'vitest'
import { MAX_CHECKED_MESSAGES } from '../../src/base/bounds.ts'
import type { Steps } from '../../src/base/steps.ts'
import { checkNew, checkReplacing } from '../../src/mempool/poolChecks.ts'
import { mpoolCheckMessages } from '../../src/rpc/signatures/mpool.ts'
import { keyAddress, testMessage } from './fakes.ts'
import { a1, a2, poolWith } from './fundedPool.ts'

const JSON_FORM = { addressPrefix: 't' } as const

describe('checks of messages', () => {
  test('are made a message a step', async () => {
    const { pool } = await poolWith()
    let steps = 0
    const walk = <T>(all: Steps<T>): T => {
      for (;;) {
        const next = all.next()
        if (next.done === true) return next.value
        steps++
      }
    }
    const asked = Array.from({ length: 50 }, (_, i) => ({
      message: testMessage(a1, a2, i, 1n).message,
      anyNonce: false,
    }))
    expect(await checkNew(pool, asked, walk)).toHaveLength(50)
    expect(steps).toBe(50)
  })

  test('are of so many messages at most, with what is pending beside them', async () => {
    const { chain, pool } = await poolWith()
    for (let nonce = 0; nonce < 2; nonce++) await pool.push(testMessage(a1, a2, nonce, 1n))
    const replacing = testMessage(a1, a2, 0, 10n).message
    for (const [others, code] of [
      [MAX_CHECKED_MESSAGES - 2, undefined],
      [MAX_CHECKED_MESSAGES - 1, 'TOO_MANY_MESSAGES'],
    ] as const) {
      const strangers = Array.from({ length: others }, (_, i) => testMessage(keyAddress(100 + i), a1, 0, 1n).message)
      const answer = await checkReplacing(pool, [replacing, ...strangers]).catch((error: unknown) => error)
      if (code === undefined) expect(answer).toHaveLength(MAX_CHECKED_MESSAGES)
      else expect(answer).toMatchObject({ code })
    }
    expect(chain.head().height).toBe(0)
  })

  test('of more are refused before any is read', () => {
    const [prototypes] = mpoolCheckMessages.params
    const read = (count: number): unknown => prototypes.codec.fromJson(Array(count).fill({ Message: 7 }), JSON_FORM)
    expect(() => read(MAX_CHECKED_MESSAGES)).toThrow(/Message/)
    expect(() => read(MAX_CHECKED_MESSAGES + 1)).toThrow(`at most ${MAX_CHECKED_MESSAGES}`)
  })
})
