/** Which nonces a sender may take in the pool, and again. Texts are those of the recorded session and of lotus chain/messagepool/messagepool.go. */
import { describe, expect, test } from 'vitest'
import type { MempoolUpdate } from '../../src/mempool/pendingMessages.ts'
import { FakeChain, openTestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL, failure, poolWith } from './fundedPool.ts'

describe('replacing', () => {
  test('needs 110 % of the premium and one', async () => {
    const { pool } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 100_065n))
    expect(await failure(pool.push(testMessage(a1, a2, 0, 100_066n)))).toEqual({
      code: 'REPLACE_PREMIUM_TOO_LOW',
      message:
        `failed to add locked: message from ${a1.toString('t')} with nonce 0 already in mpool, increase GasPremium to ` +
        '110072 from 100066 to trigger replace by fee: replace by fee has too low GasPremium',
    })
    const better = testMessage(a1, a2, 0, 110_072n)
    await pool.push(better)
    expect(pool.pending().messages).toEqual([better])
  })

  test('the same message again is refused', async () => {
    const { pool } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 10n))
    expect(await failure(pool.push(testMessage(a1, a2, 0, 10n)))).toEqual({
      code: 'NONCE_TAKEN',
      message: `failed to add locked: message from ${a1.toString('t')} with nonce 0 already in mpool: message with nonce already exists`,
    })
  })

  test('tells of an add and nothing else', async () => {
    const { chain, pool } = await poolWith()
    const updates: MempoolUpdate[] = []
    const stop = pool.subscribe((update) => updates.push(update))
    const first = testMessage(a1, a2, 0, 100n)
    const second = testMessage(a1, a2, 0, 200n)
    await pool.push(first)
    await pool.push(second)
    chain.mine([second])
    stop()
    await pool.push(testMessage(a1, a2, 1, 100n))
    expect(updates).toEqual([
      { type: 'add', message: first },
      { type: 'add', message: second },
      { type: 'remove', message: second },
    ])
  })
})

describe('nonce gaps', () => {
  test('gossip leaves at most four free, our own any', async () => {
    const { pool } = await poolWith()
    await pool.add(testMessage(a1, a2, 4, 10n))
    expect(await failure(pool.add(testMessage(a1, a2, 5, 10n)))).toEqual({
      code: 'NONCE_GAP',
      message:
        'failed to add locked: message nonce has too big a gap from expected nonce (Nonce: 5, nextNonce: 0): unfulfilled nonce gap',
    })
    await pool.push(testMessage(a1, a2, 5010, 10n))
    expect(await pool.nonce(a1)).toBe(0n)
  })

  test('filling one moves the next nonce past what follows', async () => {
    const { pool } = await poolWith()
    for (const nonce of [0, 2, 3]) await pool.push(testMessage(a1, a2, nonce, 10n))
    expect(await pool.nonce(a1)).toBe(1n)
    await pool.push(testMessage(a1, a2, 1, 10n))
    expect(await pool.nonce(a1)).toBe(4n)
  })

  test('gossip replaces nothing beyond one', async () => {
    const { pool } = await poolWith()
    await pool.add(testMessage(a1, a2, 1, 10n))
    expect((await failure(pool.add(testMessage(a1, a2, 1, 100n)))).code).toBe('NONCE_GAP')
  })
})

test('a stranger may have 100 messages of a sender pending, we 1000', async () => {
  const { pool } = await poolWith(1000n * FIL)
  for (let i = 0; i < 100; i++) await pool.push(testMessage(a1, a2, i, 10n), { untrusted: true })
  expect(await failure(pool.push(testMessage(a1, a2, 100, 10n), { untrusted: true }))).toEqual({
    code: 'TOO_MANY_PENDING',
    message: 'failed to add locked: too many pending messages for actor',
  })
  for (let i = 100; i < 1000; i++) await pool.push(testMessage(a1, a2, i, 10n))
  expect((await failure(pool.push(testMessage(a1, a2, 1000, 10n)))).code).toBe('TOO_MANY_PENDING')
})

describe('a fee cap below a hundredth of the base fee', () => {
  test('keeps ours back and refuses that of others', async () => {
    const chain = new FakeChain()
    chain.baseFee = 100_000n
    chain.setActor(a1, 0n, FIL)
    const { pool, published } = await openTestPool({ chain })
    chain.mine()
    await pool.push(testMessage(a1, a2, 0, 10n))
    expect(published).toHaveLength(0)
    const found = await failure(pool.add(testMessage(a1, a2, 1, 10n)))
    expect(found).toEqual({
      code: 'SOFT_FAILURE',
      message:
        "verify msg failed: GasFeeCap doesn't meet base fee lower bound for inclusion in the next 20 blocks (GasFeeCap: 110, baseFeeLowerBound: 1000): validation failure",
    })
    await pool.push(testMessage(a1, a2, 1, 1000n))
    expect(published).toHaveLength(1)
  })
})
