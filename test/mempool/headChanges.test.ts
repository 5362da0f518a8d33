/** The pool while the head of its chain changes. */
import { describe, expect, test } from 'vitest'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { MAX_PENDING_PER_SENDER } from '../../src/mempool/limits.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { keyAddress, testMessage } from './fakes.ts'
import { a1, a2, FIL, nonces, poolWith } from './fundedPool.ts'

describe('head changes', () => {
  test('applied messages leave, whatever their CID', async () => {
    const { chain, pool } = await poolWith()
    for (const nonce of [0, 1]) await pool.push(testMessage(a1, a2, nonce, 10n))
    chain.mine([testMessage(a1, a2, 0, 999n)])
    expect(nonces(pool.pending().messages)).toEqual([1n])
    expect(await pool.nonce(a1)).toBe(2n)
  })

  test('a block that cannot be read keeps none of the others from taking theirs', async () => {
    const { chain, pool } = await poolWith()
    const messages = [0, 1].map((nonce) => testMessage(a1, a2, nonce, 10n))
    for (const one of messages) await pool.push(one)
    const blockMessages = chain.blockMessages.bind(chain)
    const first = chain.block(chain.head(), [])
    chain.blockMessages = (header) => {
      if (header.height === first.height) throw new BlockMissing([header.messages])
      return blockMessages(header)
    }
    chain.setHead(chain.block(first, messages))
    expect(pool.size).toBe(0)
    expect(pool.tipset).toBe(chain.head())
  })

  test('all of a sender return, also where that makes more than it may have pending', async () => {
    const { chain, pool } = await poolWith(1000n * FIL)
    const base = chain.head()
    const all = Array.from({ length: MAX_PENDING_PER_SENDER + 3 }, (_, nonce) => testMessage(a1, a2, nonce, 10n))
    const release = pool.holdFlush()
    const durable = []
    for (const one of all.slice(0, MAX_PENDING_PER_SENDER)) durable.push((await pool.reserve(one)).durable)
    release()
    await Promise.all(durable)
    chain.mine(all.slice(0, 3))
    chain.setActor(a1, 3n, 1000n * FIL)
    for (const one of all.slice(MAX_PENDING_PER_SENDER)) await pool.push(one)
    chain.setActor(a1, 0n, 1000n * FIL)
    chain.setHead(chain.block(base, [], 5))
    expect(pool.size).toBe(all.length)
    expect(nonces((await pool.select(chain.head(), 1)) ?? [])[0]).toBe(0n)
  })

  test('of an empty pool, messages of a tipset are not read', async () => {
    const { chain, pool } = await poolWith()
    const blockMessages = chain.blockMessages.bind(chain)
    let reads = 0
    chain.blockMessages = (header) => {
      reads++
      return blockMessages(header)
    }
    chain.mine([testMessage(a2, a1, 0, 10n)])
    expect(reads).toBe(0)
    expect(pool.tipset).toBe(chain.head())
    await pool.push(testMessage(a1, a2, 0, 10n))
    chain.mine([testMessage(a2, a1, 1, 10n)])
    expect(reads).toBeGreaterThan(0)
    expect(nonces(pool.pending().messages)).toEqual([0n])
  })

  test('a reorg puts back what the new chain does not have', async () => {
    const { chain, pool } = await poolWith()
    const base = chain.head()
    const secp = [0, 1, 2].map((nonce) => testMessage(a1, a2, nonce, 10n))
    const bls = testMessage(a2, a1, 0, 10n, {}, 2)
    const strange = testMessage(a2, a1, 1, 10n, {}, 2)
    for (const one of [...secp, bls]) await pool.push(one)
    chain.mine([...secp.slice(0, 2), bls, strange])
    expect(nonces(pool.pending().messages)).toEqual([2n])
    const other = chain.block(base, [secp[0] as SignedMessage])
    chain.setHead(chain.block(other, [], 5))
    // the BLS message that was never in the pool has no signature to return with
    expect(
      pool
        .pending()
        .messages.map((one) => signedMessageCid(one).toString())
        .sort(),
    ).toEqual([secp[1], secp[2], bls].map((one) => signedMessageCid(one as SignedMessage).toString()).sort())
    expect(await pool.nonce(a1)).toBe(3n)
  })

  test('pending at an older tipset of the same chain and at a newer one', async () => {
    const { chain, pool } = await poolWith()
    const m0 = testMessage(a1, a2, 0, 10n)
    const m1 = testMessage(a1, a2, 1, 10n)
    await pool.push(m0)
    await pool.push(m1)
    const before = chain.head()
    expect(nonces(pool.pendingAt(before))).toEqual([0n, 1n])
    chain.mine([m0])
    expect(nonces(pool.pendingAt(before))).toEqual([1n])
    const ahead = chain.block(chain.head(), [m1])
    const further = chain.block(ahead, [testMessage(a1, a2, 2, 10n)])
    expect(nonces(pool.pendingAt(further))).toEqual([1n, 2n])
  })

  test('selection for another tipset counts what lies between', async () => {
    const { chain, pool } = await poolWith()
    const messages = [0, 1, 2].map((nonce) => testMessage(a1, a2, nonce, 10n))
    for (const one of messages) await pool.push(one)
    const ahead = chain.block(chain.head(), messages.slice(0, 1))
    chain.setActor(a1, 1n, FIL)
    expect(nonces((await pool.select(ahead, 1)) ?? [])).toEqual([1n, 2n])
  })
})

test('a sender that the head created can send at once', async () => {
  const { chain, pool } = await poolWith()
  const fresh = keyAddress(7)
  chain.setActor(fresh, 0n, FIL)
  chain.fresh.add(fresh.key)
  await pool.push(testMessage(fresh, a1, 0, 10n))
  expect(await pool.nonce(fresh)).toBe(1n)
})
