/** A pool under more messages than it has room for: bounded count and bytes, own messages stay, honest ones find room. */
import { beforeAll, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { MempoolError } from '../../src/mempool/errors.ts'
import { MAX_HELD_MS } from '../../src/mempool/groupCommit.ts'
import {
  MAX_STRANGERS_KEPT,
  POOL_BYTES_HIGH,
  POOL_BYTES_LOW,
  POOL_BYTES_MAX,
  POOL_HEADROOM,
} from '../../src/mempool/limits.ts'
import type { MessagePool } from '../../src/mempool/messagePool.ts'
import { type SignedMessage, signedMessage } from '../../src/types/signedMessage.ts'
import { FakeChain, keyAddress, openTestPool, testMessage } from './fakes.ts'

const RICH = 10n ** 24n
const COOLDOWN_MS = 60_000
const to = keyAddress(65_000)
/** Large messages of one sender whose gas a block has: what it has beyond those goes first. */
const CHAIN = 50

/** What became of a gossiped message. */
async function add(pool: MessagePool, signed: SignedMessage): Promise<string> {
  try {
    await pool.add(signed)
    return 'added'
  } catch (error) {
    if (error instanceof MempoolError) return error.code
    throw error
  }
}

beforeAll(async () => {
  await initCrypto()
})

describe('a flood of gossip', () => {
  it('of small messages: stops at the bound, and the cheapest go first', { timeout: 120_000 }, async () => {
    const { chain, pool, time } = await openTestPool()
    const senders = 30
    for (let n = 0; n < senders; n++) chain.setActor(keyAddress(n), 0n, RICH)
    const own = keyAddress(40_000)
    chain.setActor(own, 0n, RICH)
    await pool.push(testMessage(own, to, 0, 1n))
    await pool.setConfig({ ...pool.config(), sizeLimitHigh: 2_000, sizeLimitLow: 1_000 })
    const most = 2_000 + POOL_HEADROOM
    const outcomes = new Map<string, number>()
    for (let nonce = 0; nonce < 1_000; nonce++) {
      for (let n = 0; n < senders; n++) {
        const outcome = await add(pool, testMessage(keyAddress(n), to, nonce, 5n))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        expect(pool.size).toBeLessThanOrEqual(most)
      }
    }
    // One pruning early on, then none for a minute.
    expect(pool.size).toBe(most)
    expect([...outcomes.keys()].toSorted()).toEqual(['NONCE_GAP', 'SOFT_FAILURE', 'added'])
    await time.pass(COOLDOWN_MS)
    const honest = keyAddress(50_000)
    chain.setActor(honest, 0n, RICH)
    // The first is refused, and has the pool pruned; the next finds room.
    expect(await add(pool, testMessage(honest, to, 0, 1_000n))).toBe('SOFT_FAILURE')
    await time.pass(1)
    expect(pool.size).toBeLessThanOrEqual(1_000)
    expect(await add(pool, testMessage(honest, to, 0, 1_000n))).toBe('added')
    expect(pool.pendingOf(own).length).toBe(1)
    pool.close()
  })

  it('of large messages: bounded bytes', { timeout: 120_000 }, async () => {
    const { chain, pool, time } = await openTestPool({ chain: new ForgetfulChain() })
    // The same bytes in each, so that the test itself stays small.
    const most = new Uint8Array(60_000)
    const nonces = new Map<number, number>()
    let sender = 0
    const next = (params: number, premium = 5n): SignedMessage => {
      const nonce = nonces.get(sender) ?? 0
      if (nonce === 0) chain.setActor(keyAddress(sender), 0n, RICH)
      const extra = { params: most.subarray(0, params), gasLimit: 200_000_000n }
      return testMessage(keyAddress(sender), to, nonce, premium, extra)
    }
    const sizeOf = (signed: SignedMessage): number => encode(signedMessage, signed).length
    /** Adds the next one of a sender, or not. @param bytes - of the whole message; undefined: as many as it may have here */
    const addNext = async (bytes?: number, premium?: bigint): Promise<string> => {
      const params = bytes === undefined ? most.length : bytes - sizeOf(next(1_000)) + 1_000
      const outcome = await add(pool, next(params, premium))
      if (outcome === 'added') nonces.set(sender, (nonces.get(sender) ?? 0) + 1)
      // What is done soon is done.
      await time.pass(0)
      return outcome
    }
    const largest = sizeOf(next(most.length))
    /** Up to what one more message brings to the bound exactly. @returns how long that is */
    const fillAlmost = async (bytes: number): Promise<number> => {
      const left = (): number => bytes - pool.bytes
      while (left() > 2 * largest) {
        if (nonces.get(sender) === CHAIN) sender++
        expect(await addNext()).toBe('added')
      }
      sender++
      expect(await addNext(Math.floor(left() / 2))).toBe('added')
      return left()
    }

    const missing = await fillAlmost(POOL_BYTES_HIGH)
    expect(await addNext(missing)).toBe('added')
    expect(pool.bytes).toBe(POOL_BYTES_HIGH)
    // In its place one that has a byte more.
    nonces.set(sender, (nonces.get(sender) ?? 0) - 1)
    expect(await addNext(missing + 1, 8n)).toBe('added')
    expect(pool.bytes).toBeLessThanOrEqual(POOL_BYTES_LOW)
    expect(pool.bytes).toBeGreaterThan(POOL_BYTES_LOW - largest)

    // For a minute it is not pruned again.
    sender++
    const last = await fillAlmost(POOL_BYTES_MAX)
    expect(await addNext(last + 1)).toBe('SOFT_FAILURE')
    expect(await addNext(last)).toBe('added')
    expect(pool.bytes).toBe(POOL_BYTES_MAX)
    expect(await addNext(2_000)).toBe('SOFT_FAILURE')
    await time.pass(COOLDOWN_MS)
    expect(await addNext(2_000)).toBe('SOFT_FAILURE')
    expect(pool.bytes).toBeLessThanOrEqual(POOL_BYTES_LOW)
    expect(await addNext(2_000)).toBe('added')
    pool.close()
  })

  it('of callers without a token: as bounded as gossip, which finds room, and so is the disk', {
    timeout: 120_000,
  }, async () => {
    const { chain, pool, store, time } = await openTestPool()
    await pool.setConfig({ ...pool.config(), sizeLimitHigh: 2_000, sizeLimitLow: 1_000 })
    const most = 2_000 + POOL_HEADROOM
    const release = pool.holdFlush()
    const durable: Promise<void>[] = []
    const refused = new Set<string>()
    for (let n = 0; n < 15; n++) {
      chain.setActor(keyAddress(n), 0n, RICH)
      for (let nonce = 0; nonce < 1_000; nonce++) {
        const started = pool.reserve(testMessage(keyAddress(n), to, nonce, 1n), { ofStranger: true })
        await started.then(
          (reserved) => durable.push(reserved.durable),
          (error: MempoolError) => refused.add(error.code),
        )
        if (durable.length % 500 === 0) await time.pass(MAX_HELD_MS)
      }
    }
    release()
    await time.pass(MAX_HELD_MS)
    await Promise.all(durable)
    expect([...refused]).toEqual(['SOFT_FAILURE'])
    expect(pool.size).toBeLessThanOrEqual(most)
    expect(pool.localSize).toBe(0)
    expect([...store.keys(utf8('/mpool/stranger/'))]).toHaveLength(MAX_STRANGERS_KEPT)
    await pool.prune()
    expect(pool.size).toBeLessThanOrEqual(1_000)
    const honest = keyAddress(50_000)
    chain.setActor(honest, 0n, RICH)
    expect(await add(pool, testMessage(honest, to, 0, 1_000n))).toBe('added')
    pool.close()
  })

  it('bytes follow replacements and removals', async () => {
    const { chain, pool } = await openTestPool()
    const sender = keyAddress(1)
    chain.setActor(sender, 0n, RICH)
    const first = testMessage(sender, to, 0, 100n)
    const longer = testMessage(sender, to, 0, 200n, { params: new Uint8Array(1_000) })
    await pool.add(first)
    const small = pool.bytes
    await pool.add(longer)
    // Two more bytes for the length of the parameters, one for a fee cap above 255.
    expect(pool.bytes).toBe(small + 1_000 + 2 + 1)
    chain.mine([longer])
    expect([pool.size, pool.bytes]).toEqual([0, 0])
    await pool.add(testMessage(sender, to, 1, 100n))
    await pool.clear(true)
    expect([pool.size, pool.bytes]).toEqual([0, 0])
    pool.close()
  })
})

/** Does not keep what the pool stores, so that memory is the pool's own. */
class ForgetfulChain extends FakeChain {
  override putMessage(): void {}
  override putSignedMessage(): void {}
}
