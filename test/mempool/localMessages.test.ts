/** What the pool keeps on disk. */
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { LATE_RETRY_MS, MAX_LATE_RETRY_MS } from '../../src/mempool/limits.ts'
import { SIGNATURE_BLS } from '../../src/types/signature.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { FailingStore } from '../support/failingStore.ts'
import { FakeChain, GAS_LIMIT, keyAddress, openTestPool, silent, type TestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL, failure, nonces, poolWith } from './fundedPool.ts'

describe('disk', () => {
  test('our messages are there again after a start', async () => {
    const { chain, pool, store } = await poolWith()
    const messages = [0, 1, 2].map((nonce) => testMessage(a1, a2, nonce, 10n))
    for (const one of messages) await pool.push(one)
    await pool.add(testMessage(a2, a1, 0, 10n))
    // no close, no flush: as after kill -9
    chain.mine([messages[0] as SignedMessage])
    const again = await openTestPool({ chain, store })
    expect(nonces(again.pool.pending().messages)).toEqual([1n, 2n])
    expect(await again.pool.nonce(a1)).toBe(3n)
    expect(again.published).toHaveLength(0)
  })

  test('what it replaced does not come back in its place', async () => {
    const { chain, pool, store } = await poolWith()
    const better = testMessage(a1, a2, 0, 200n)
    await pool.push(testMessage(a1, a2, 0, 100n))
    await pool.push(better)
    const again = await openTestPool({ chain, store })
    expect(again.pool.pending().messages).toEqual([better])
  })

  test('what the chain has for good leaves the disk at the next start', async () => {
    const { chain, pool, store } = await poolWith()
    const messages = [0, 1, 2].map((nonce) => testMessage(a1, a2, nonce, 10n))
    for (const one of messages) await pool.push(one)
    const kept = (): number => [...store.keys(utf8('/mpool/local/'))].length
    chain.setActor(a1, 2n, FIL)
    expect(nonces((await openTestPool({ chain, store })).pool.pending().messages)).toEqual([2n])
    expect(kept()).toBe(3)
    chain.isFinal = true
    expect(nonces((await openTestPool({ chain, store })).pool.pending().messages)).toEqual([2n])
    expect(kept()).toBe(1)
  })

  test('clearing takes ours only when told to', async () => {
    const { chain, pool, store } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 10n))
    await pool.add(testMessage(a2, a1, 0, 10n))
    await pool.clear(false)
    expect(pool.pending().messages.map((one) => one.message.from)).toEqual([a1])
    await pool.clear(true)
    expect(pool.size).toBe(0)
    const again = await openTestPool({ chain, store })
    expect(again.pool.size).toBe(0)
  })

  test('clearing takes ours on disk that have no place, too', async () => {
    const { chain, pool, store } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 1000n))
    chain.setActor(a1, 0n, 100n)
    const again = await openTestPool({ chain, store })
    expect(again.pool.size).toBe(0)
    await again.pool.clear(true)
    expect([...store.keys(utf8('/mpool/local/'))]).toEqual([])
    chain.setActor(a1, 0n, FIL)
    chain.mine([])
    await again.time.pass(LATE_RETRY_MS)
    expect(again.pool.size).toBe(0)
  })

  test('what was refused at the start does not come back over what was sent since', async () => {
    const { chain, pool, store } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 1000n, { value: 7n }))
    await pool.push(testMessage(a1, a2, 1, 1000n, { value: 7n }))
    chain.setActor(a1, 0n, 100n)
    const again = await openTestPool({ chain, store })
    chain.setActor(a1, 0n, FIL)
    await again.pool.push(testMessage(a1, a2, 0, 100n, { value: 9n }))
    chain.mine([])
    await again.time.pass(LATE_RETRY_MS)
    const values = (one: TestPool) => one.pool.pending().messages.map(({ message }) => message.value)
    expect(values(again)).toEqual([9n, 7n])
    expect(values(await openTestPool({ chain, store }))).toEqual([9n, 7n])
  })

  test('what was refused at the start waits on when the disk is full', async () => {
    const store = new FailingStore()
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    const { pool } = await openTestPool({ chain, store })
    await pool.push(testMessage(a1, a2, 0, 1000n))
    await pool.push(testMessage(a1, a2, 1, 1000n))
    chain.setActor(a1, 0n, 100n)
    const again = await openTestPool({ chain, store })
    chain.setActor(a1, 1n, FIL)
    chain.isFinal = true
    store.fault = 'write'
    chain.mine([])
    // The first is final, and cannot be deleted.
    await again.time.pass(LATE_RETRY_MS)
    expect(nonces(again.pool.pending().messages)).toEqual([1n])
    store.fault = 'none'
    chain.mine([])
    await again.time.pass(LATE_RETRY_MS)
    expect([...store.keys(utf8('/mpool/local/'))]).toHaveLength(1)
  })

  test('what was cancelled is not paid after a start, cleared or refused', async () => {
    const pays = testMessage(a1, a2, 0, 100n, { value: 100n })
    const cancels = testMessage(a1, a1, 0, 5_000n)
    for (const clears of [true, false]) {
      const { chain, pool, store } = await poolWith()
      await pool.push(pays)
      await pool.push(cancels)
      if (clears) await pool.clear(true)
      // Enough for the gas of the payment, not for that of the dearer message.
      chain.setActor(a1, 0n, 2_000n * GAS_LIMIT)
      const again = await openTestPool({ chain, store })
      expect(again.pool.pending().messages).toEqual([])
      chain.setActor(a1, 0n, FIL)
      chain.mine([])
      await again.time.pass(LATE_RETRY_MS)
      expect(again.pool.pending().messages).toEqual(clears ? [] : [cancels])
      expect((await openTestPool({ chain, store })).pool.pending().messages).toEqual(clears ? [] : [cancels])
    }
  })

  test('of two with one nonce on disk, as earlier versions left them, the dearer one counts', async () => {
    const { chain, pool, store } = await poolWith()
    const pays = testMessage(a1, a2, 0, 100n, { value: 100n })
    const cancels = testMessage(a1, a1, 0, 5_000n)
    await pool.push(pays)
    const [key] = store.keys(utf8('/mpool/local/')) as Iterable<Uint8Array>
    const bytes = store.get(key as Uint8Array) as Uint8Array
    await pool.push(cancels)
    store.put(key as Uint8Array, bytes)
    chain.setActor(a1, 0n, 2_000n * GAS_LIMIT)
    const again = await openTestPool({ chain, store })
    expect(again.pool.pending().messages).toEqual([])
    expect([...store.keys(utf8('/mpool/local/'))]).toHaveLength(1)
  })

  test('a message of ours in a place on disk goes with what is sent there', async () => {
    const { chain, pool, store } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 1_000n, { value: 7n }))
    chain.setActor(a1, 0n, 100n)
    const again = await openTestPool({ chain, store })
    chain.setActor(a1, 0n, FIL)
    await again.pool.push(testMessage(a1, a2, 0, 100n, { value: 9n }))
    // Killed at once.
    const values = (await openTestPool({ chain, store })).pool.pending().messages.map(({ message }) => message.value)
    expect(values).toEqual([9n])
  })

  test('a message of a BLS key comes back when its tipset is reverted after a start', async () => {
    const { chain, pool, store } = await poolWith()
    const before = chain.head()
    const ours = testMessage(a1, a2, 0, 100n, { value: 100n }, SIGNATURE_BLS)
    await pool.push(ours)
    chain.mine([ours])
    const again = await openTestPool({ chain, store })
    expect(again.pool.size).toBe(0)
    chain.setHead(chain.block(before, [], 5))
    expect(again.pool.pending().messages).toEqual([ours])
  })

  test("strangers' messages are theirs after a start, too, and only so many are kept", async () => {
    const { chain, store } = await poolWith()
    const one = await openTestPool({ chain, store })
    const strangers = Array.from({ length: 20 }, (_, i) => keyAddress(100 + i))
    for (const from of strangers) {
      chain.setActor(from, 0n, FIL)
      await one.pool.push(testMessage(from, a1, 0, 1n), { ofStranger: true })
    }
    const two = await openTestPool({ chain, store })
    expect([two.pool.size, two.pool.localSize]).toEqual([20, 0])
    await two.pool.add(testMessage(a1, a2, 0, 1_000n))
    await two.pool.setConfig({ ...two.pool.config(), sizeLimitHigh: 10, sizeLimitLow: 5 })
    await two.pool.prune()
    expect(two.pool.size).toBeLessThanOrEqual(5)
    expect(two.pool.pendingOf(a1)).toHaveLength(1)
    await two.pool.clear(false)
    expect((await openTestPool({ chain, store })).pool.size).toBe(0)
  })

  test('a wallet that was emptied is told of in one line, and tried more and more seldom', async () => {
    const { chain, pool, store } = await poolWith()
    for (let nonce = 0; nonce < 100; nonce++) await pool.push(testMessage(a1, a2, nonce, 100n))
    chain.setActor(a1, 0n, 10n)
    const lines: object[] = []
    const logger = { ...silent, warn: (_text: string, fields?: object) => void lines.push(fields ?? {}) }
    let reads = 0
    const stateAfter = chain.stateAfter.bind(chain)
    chain.stateAfter = () => {
      reads++
      return stateAfter()
    }
    const again = await openTestPool({ chain, store, logger })
    expect(lines).toMatchObject([{ count: 100 }])
    reads = 0
    for (let passed = 0; passed < 100 * LATE_RETRY_MS; passed += LATE_RETRY_MS) {
      chain.mine([])
      await again.time.pass(LATE_RETRY_MS)
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
    expect(lines).toHaveLength(1)
    // After 1, 3, 7, 15, 31 and 63 pauses, not 100 times; a try reads twice.
    expect(reads).toBeLessThanOrEqual(2 * 7 * 100)
    expect(reads).toBeGreaterThan(100)
    chain.setActor(a1, 0n, FIL)
    chain.mine([])
    for (let passed = 0; passed < MAX_LATE_RETRY_MS; passed += LATE_RETRY_MS) {
      await again.time.pass(LATE_RETRY_MS)
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
    expect(again.pool.size).toBe(100)
  })

  test('what the state refuses for very long is tried ever more seldom, and no more seldom than the bound', async () => {
    const { chain, store, pool } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 100n))
    chain.setActor(a1, 0n, 10n)
    const again = await openTestPool({ chain, store })
    const passes = async (ms: number): Promise<number> => {
      chain.mine([])
      await again.time.pass(ms)
      await new Promise((resolve) => setTimeout(resolve, 0))
      return again.pool.size
    }
    let pauseMs = LATE_RETRY_MS
    for (; pauseMs < MAX_LATE_RETRY_MS; pauseMs *= 2) expect(await passes(pauseMs)).toBe(0)
    // The same twice: it grows no further.
    expect(await passes(MAX_LATE_RETRY_MS)).toBe(0)
    chain.setActor(a1, 0n, FIL)
    expect(await passes(MAX_LATE_RETRY_MS - 1)).toBe(0)
    expect(await passes(1)).toBe(1)
  })

  test('settings are kept and checked', async () => {
    const { chain, pool, store } = await poolWith()
    const config = { ...pool.config(), priorityAddrs: [a1], replaceByFeePercent: 130, gasLimitOverestimation: 1.5 }
    await pool.setConfig(config)
    const again = await openTestPool({ chain, store })
    expect(again.pool.config()).toEqual(config)
    expect((await failure(pool.setConfig({ ...config, replaceByFeePercent: 109 }))).message).toBe(
      "'ReplaceByFeeRatio' is less than required 1.9 < 1.10",
    )
    expect((await failure(pool.setConfig({ ...config, gasLimitOverestimation: 0.9 }))).message).toBe(
      "'GasLimitOverestimation' cannot be less than 1",
    )
  })
})
