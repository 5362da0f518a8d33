/** What holds a message up, and that doing what the answer says repairs it. */
import { describe, expect, test } from 'vitest'
import { heldUpBy } from '../../src/mempool/explainMessage.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { FakeChain, keyAddress, openTestPool, type TestPool, testMessage } from './fakes.ts'

const a1 = keyAddress(1)
const a2 = keyAddress(2)
const FIL = 10n ** 18n

async function open(balance = FIL): Promise<TestPool> {
  const chain = new FakeChain()
  chain.setActor(a1, 5n, balance)
  chain.setActor(a2, 0n, 10_000n * FIL)
  chain.nextBaseFee = 100n
  return await openTestPool({ chain })
}

const why = ({ pool, chain }: TestPool, { message }: SignedMessage) =>
  heldUpBy(message, { pool, baseFeeAfterHead: () => chain.nextBaseFee, addressPrefix: 't' })

describe('why a message waits', () => {
  test('nothing holds it up: the next block takes it', async () => {
    const opened = await open()
    const one = testMessage(a1, a2, 5, 200n)
    await opened.pool.push(one)
    expect(await why(opened, one)).toEqual([])
    expect(await opened.pool.select(opened.chain.head(), 1)).toEqual([one])
  })

  test('a gap before it; the message that fills it frees both', async () => {
    const opened = await open()
    const late = testMessage(a1, a2, 7, 200n)
    await opened.pool.push(late)
    const [gap, ...rest] = await why(opened, late)
    expect(rest).toEqual([])
    expect(gap).toMatchObject({ code: 'NONCE_GAP', text: expect.stringContaining('nonces 5 to 6 are missing') })
    expect(gap?.command).toContain(`--from ${a1.toString('t')} --nonce 5`)
    await opened.pool.push(testMessage(a1, a1, 5, 200n))
    expect((await why(opened, late))[0]).toMatchObject({
      code: 'NONCE_GAP',
      text: expect.stringContaining('nonce 6 is'),
    })
    await opened.pool.push(testMessage(a1, a1, 6, 200n))
    expect(await why(opened, late)).toEqual([])
  })

  test('its fee cap is below the base fee, and whatever comes after it waits for it', async () => {
    const opened = await open()
    const first = testMessage(a1, a2, 5, 200n)
    const second = testMessage(a1, a2, 6, 200n)
    await opened.pool.push(first)
    await opened.pool.push(second)
    opened.chain.nextBaseFee = first.message.gasFeeCap + 1n
    const [reason] = await why(opened, first)
    expect(reason).toMatchObject({ code: 'FEE_CAP' })
    expect(reason?.command).toMatch(/^petrel mpool replace --auto bafy/)
    expect(await why(opened, second)).toEqual([
      { code: 'BEHIND', text: expect.stringContaining('nonce 5'), command: reason?.command },
    ])
  })

  test('its sender has too little, and how much is missing', async () => {
    const opened = await open()
    const one = testMessage(a1, a2, 5, 200n)
    await opened.pool.push(one)
    const needed = one.message.value + one.message.gasFeeCap * one.message.gasLimit
    opened.chain.setActor(a1, 5n, needed - 3n)
    expect(await why(opened, one)).toEqual([
      { code: 'FUNDS', text: expect.any(String), command: `petrel --force-send send ${a1.toString('t')} 3attoFIL` },
    ])
    opened.chain.setActor(a1, 5n, needed)
    expect(await why(opened, one)).toEqual([])
  })

  test('others pay more and fill the block', async () => {
    const opened = await open()
    const poor = testMessage(a1, a2, 5, 101n)
    await opened.pool.push(poor)
    // Gas of a block is 10^10: two messages of half of it leave no room.
    for (const nonce of [0, 1]) {
      const rich = testMessage(a2, a1, nonce, 50_000n)
      await opened.pool.push({ ...rich, message: { ...rich.message, gasLimit: 5_000_000_000n } })
    }
    expect(await why(opened, poor)).toMatchObject([{ code: 'PREMIUM' }])
  })
})
