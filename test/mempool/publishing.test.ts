/** When messages are published that nobody has heard of. */
import { describe, expect, test } from 'vitest'
import { decode } from '../../src/codec/description.ts'
import { LATE_RETRY_MS, MAX_UNHEARD_RETRY_MS, PUBLISH_SPACING_MS, UNHEARD_RETRY_MS } from '../../src/mempool/limits.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { FakeChain, openTestPool, type TestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL, poolWith } from './fundedPool.ts'

/** Sender and nonce of each message that was published. */
const named = (published: readonly Uint8Array[]): string[] =>
  published
    .map((bytes) => decode(signedMessage, bytes).message)
    .map(({ from, nonce }) => `${from.equals(a1) ? 'a1' : 'a2'} ${nonce}`)

interface LonelyPool extends TestPool {
  readonly tries: Uint8Array[]
  readonly heard: Uint8Array[]
  isHeard: boolean
}

/** A pool in a network where nobody is, at first. */
async function lonelyPool(): Promise<LonelyPool> {
  const chain = new FakeChain()
  for (const sender of [a1, a2]) chain.setActor(sender, 0n, FIL)
  const seen = { tries: [] as Uint8Array[], heard: [] as Uint8Array[], isHeard: false }
  const publish = async (bytes: Uint8Array): Promise<boolean> => {
    seen.tries.push(bytes)
    if (seen.isHeard) seen.heard.push(bytes)
    return seen.isHeard
  }
  return Object.assign(seen, await openTestPool({ chain, publish }))
}

describe('of messages that nobody heard the network is told', () => {
  test('as soon as somebody is there: in vain ever more seldom', async () => {
    const lonely = await lonelyPool()
    const { pool, time, tries } = lonely
    await pool.push(testMessage(a1, a2, 0, 1000n))
    expect(tries).toHaveLength(1)
    for (let round = 1, ms = UNHEARD_RETRY_MS; round <= 4; round++) {
      await time.pass(ms - 1)
      expect(tries).toHaveLength(round)
      await time.pass(1)
      expect(tries).toHaveLength(1 + round)
      ms = Math.min(2 * ms, MAX_UNHEARD_RETRY_MS)
    }
    lonely.isHeard = true
    await time.pass(MAX_UNHEARD_RETRY_MS)
    expect(named(lonely.heard)).toEqual(['a1 0'])
    await time.pass(MAX_UNHEARD_RETRY_MS)
    expect(lonely.heard).toHaveLength(1)
    // From now on at once again.
    await pool.push(testMessage(a1, a2, 1, 1000n))
    expect(named(lonely.heard)).toEqual(['a1 0', 'a1 1'])
  })

  test('in the order of their nonces, before it is told of the next', async () => {
    const lonely = await lonelyPool()
    const { pool, time } = lonely
    for (const nonce of [2, 0, 1]) await pool.push(testMessage(a1, a2, nonce, 1000n))
    lonely.isHeard = true
    await pool.push(testMessage(a2, a1, 0, 1000n))
    expect(named(lonely.heard)).toEqual(['a2 0'])
    await pool.push(testMessage(a1, a2, 3, 1000n))
    await time.pass(4 * PUBLISH_SPACING_MS)
    expect(named(lonely.heard)).toEqual(['a2 0', 'a1 0', 'a1 1', 'a1 2', 'a1 3'])
  })

  test('with a pause between two of them', async () => {
    const lonely = await lonelyPool()
    for (const nonce of [0, 1, 2]) await lonely.pool.push(testMessage(a1, a2, nonce, 1000n))
    lonely.isHeard = true
    await lonely.time.pass(UNHEARD_RETRY_MS)
    for (const count of [1, 2]) {
      expect(lonely.heard).toHaveLength(count)
      await lonely.time.pass(PUBLISH_SPACING_MS - 1)
      expect(lonely.heard).toHaveLength(count)
      await lonely.time.pass(1)
    }
    expect(named(lonely.heard)).toEqual(['a1 0', 'a1 1', 'a1 2'])
  })

  test('of none that was replaced, mined or pays too little by then', async () => {
    const lonely = await lonelyPool()
    const { chain, pool, time } = lonely
    const mined = testMessage(a2, a1, 0, 1000n)
    await pool.push(mined)
    await pool.push(testMessage(a1, a2, 0, 1000n))
    await pool.push(testMessage(a1, a2, 0, 2000n))
    await pool.push(testMessage(a1, a2, 1, 1000n))
    chain.setActor(a2, 1n, FIL)
    chain.mine([mined])
    lonely.isHeard = true
    await time.pass(UNHEARD_RETRY_MS + 1000)
    expect(named(lonely.heard)).toEqual(['a1 0', 'a1 1'])
    expect(decode(signedMessage, lonely.heard[0] as Uint8Array).message.gasPremium).toBe(2000n)
  })

  test('also of one that replaces another while the network is told of that', async () => {
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    const heard: Uint8Array[] = []
    let replace: (() => Promise<unknown>) | undefined
    const publish = async (bytes: Uint8Array): Promise<boolean> => {
      if (replace === undefined) return false
      heard.push(bytes)
      const now = replace
      replace = async () => undefined
      await now()
      return true
    }
    const { pool, time } = await openTestPool({ chain, publish })
    await pool.push(testMessage(a1, a2, 0, 1000n))
    const replaced = new Promise((resolve) => {
      replace = async () => resolve(await pool.push(testMessage(a1, a2, 0, 2000n)))
    })
    await time.pass(UNHEARD_RETRY_MS)
    await replaced
    await time.pass(PUBLISH_SPACING_MS)
    expect(heard.map((bytes) => decode(signedMessage, bytes).message.gasPremium)).toEqual([1000n, 2000n])
  })

  test('when they are back from disk', async () => {
    const { chain, store, pool } = await poolWith()
    for (const nonce of [1, 0, 2]) await pool.push(testMessage(a1, a2, nonce, 1000n))
    pool.close()
    const again = await openTestPool({ chain, store })
    expect(again.published).toEqual([])
    // Its next message waits for them: peers would refuse it.
    await again.pool.push(testMessage(a1, a2, 3, 1000n))
    await again.time.pass(4 * PUBLISH_SPACING_MS)
    expect(named(again.published)).toEqual(['a1 0', 'a1 1', 'a1 2', 'a1 3'])
    again.pool.close()
    const third = await openTestPool({ chain, store })
    await third.time.pass(UNHEARD_RETRY_MS + 1000)
    expect(named(third.published)).toEqual(['a1 0', 'a1 1', 'a1 2', 'a1 3'])
  })

  test('when all whom they were sent to have left', async () => {
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    const heard: Uint8Array[] = []
    const lose: (() => void)[] = []
    const publish = async (bytes: Uint8Array, onLost?: () => void): Promise<boolean> => {
      heard.push(bytes)
      if (onLost !== undefined) lose.push(onLost)
      return true
    }
    const { pool, time } = await openTestPool({ chain, publish })
    for (const nonce of [0, 1, 2]) await pool.push(testMessage(a1, a2, nonce, 1000n))
    chain.mine([testMessage(a1, a2, 0, 1000n)])
    chain.setActor(a1, 1n, FIL)
    for (const lost of lose.splice(0).reverse()) lost()
    // One that is sent now comes behind them.
    await pool.push(testMessage(a1, a2, 3, 1000n))
    await time.pass(4 * PUBLISH_SPACING_MS)
    expect(named(heard.slice(3))).toEqual(['a1 1', 'a1 2', 'a1 3'])
    // Sent again they may be lost again.
    for (const lost of lose) lost()
    await time.pass(UNHEARD_RETRY_MS + 1000)
    expect(named(heard.slice(6))).toEqual(['a1 1', 'a1 2', 'a1 3'])
  })

  test('of strangers they are not: theirs to send again', async () => {
    const lonely = await lonelyPool()
    await lonely.pool.push(testMessage(a1, a2, 0, 1000n), { ofStranger: true })
    expect(lonely.tries).toHaveLength(1)
    lonely.isHeard = true
    await lonely.time.pass(2 * MAX_UNHEARD_RETRY_MS)
    lonely.pool.close()
    const again = await openTestPool({ chain: lonely.chain, store: lonely.store })
    await again.time.pass(2 * MAX_UNHEARD_RETRY_MS)
    expect([again.pool.size, lonely.heard, again.published]).toEqual([1, [], []])
  })

  test('after those that the state does not let in yet', async () => {
    const { chain, store, pool } = await poolWith()
    await pool.push(testMessage(a1, a2, 0, 1000n))
    pool.close()
    chain.setActor(a1, 0n, 0n)
    const again = await openTestPool({ chain, store })
    expect(again.pool.size).toBe(0)
    chain.setActor(a1, 0n, FIL)
    await again.pool.push(testMessage(a1, a2, 1, 1000n))
    await again.pool.push(testMessage(a1, a2, 2, 1000n))
    await again.time.pass(UNHEARD_RETRY_MS)
    expect(again.published).toEqual([])
    chain.mine([])
    await again.time.pass(LATE_RETRY_MS + MAX_UNHEARD_RETRY_MS)
    expect(named(again.published)).toEqual(['a1 0', 'a1 1', 'a1 2'])
  })
})
