/** The pool on a chain in memory. Texts are those of the recorded session and of mpool.md. */
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { MempoolErrorCode } from '../../src/mempool/errors.ts'
import { MempoolError } from '../../src/mempool/errors.ts'
import type { MempoolUpdate } from '../../src/mempool/pendingMessages.ts'
import { delegatedAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { FakeChain, keyAddress, MINER_CODE, openTestPool, type TestPool, testMessage } from './fakes.ts'

const a1 = keyAddress(1)
const a2 = keyAddress(2)
const FIL = 10n ** 18n

async function poolWith(balance = FIL, nonce = 0n): Promise<TestPool> {
  const chain = new FakeChain()
  chain.setActor(a1, nonce, balance)
  chain.setActor(a2, 0n, balance)
  return await openTestPool({ chain })
}

async function failure(promise: Promise<unknown>): Promise<{ code: MempoolErrorCode; message: string }> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(MempoolError)
  const { code, message } = error as MempoolError
  return { code, message }
}

const nonces = (messages: readonly SignedMessage[]): bigint[] => messages.map((one) => one.message.nonce)

describe('what it refuses', () => {
  const cases: [string, Partial<Message>, MempoolErrorCode, string][] = [
    [
      'a message that is too big',
      { params: new Uint8Array(65_536) },
      'MESSAGE_TOO_BIG',
      'mpool message too large (65678B): message too big',
    ],
    [
      'no recipient',
      { to: UNDEF_ADDRESS },
      'MESSAGE_INVALID',
      "message not valid for block inclusion: 'To' address cannot be empty",
    ],
    [
      'another version',
      { version: 1 },
      'MESSAGE_INVALID',
      "message not valid for block inclusion: 'Version' unsupported",
    ],
    [
      'a negative value',
      { value: -1n },
      'MESSAGE_INVALID',
      "message not valid for block inclusion: 'Value' field cannot be negative",
    ],
    [
      'a premium above the fee cap',
      { gasPremium: 200n, gasFeeCap: 199n },
      'MESSAGE_INVALID',
      "message not valid for block inclusion: 'GasFeeCap' less than 'GasPremium'",
    ],
    [
      'more gas than a block has',
      { gasLimit: 10_000_000_001n },
      'MESSAGE_INVALID',
      "message not valid for block inclusion: 'GasLimit' field cannot be greater than a block's gas limit (10000000001 > 10000000000)",
    ],
    [
      'no gas',
      { gasLimit: 0n },
      'MESSAGE_INVALID',
      "message not valid for block inclusion: 'GasLimit' field 0 must be positive",
    ],
    [
      'all FIL that exists',
      { value: 2_000_000_000n * FIL },
      'VALUE_TOO_HIGH',
      'cannot send more filecoin than will ever exist',
    ],
    ['a fee cap below the minimum', { gasFeeCap: 99n, gasPremium: 1n }, 'FEE_CAP_TOO_LOW', 'gas fee cap too low'],
    [
      'too little gas for its bytes',
      { gasLimit: 200_000n, params: new Uint8Array(20) },
      'MESSAGE_INVALID',
      "verify msg failed: message will not be included in a block: 'GasLimit' field cannot be less than the cost of storing a message on chain 200000 < 219863",
    ],
    [
      'more gas than it can pay',
      { gasFeeCap: FIL },
      'NOT_ENOUGH_FUNDS',
      'failed to check balance: not enough funds (required: 6955002 FIL, balance: 1 FIL): not enough funds to execute transaction',
    ],
  ]
  test.each(cases)('%s', async (_, extra, code, text) => {
    const { pool } = await poolWith()
    const signed = testMessage(a1, a2, 0, 10n, extra)
    const found = await failure(pool.push(signed))
    // sizes depend on the fake key's message, not on the rule
    expect(found.code).toBe(code)
    if (code === 'MESSAGE_TOO_BIG') expect(found.message).toMatch(/^mpool message too large \(\d+B\): message too big$/)
    else expect(found.message.replace(/< 2\d{5}$/, '< 219863')).toBe(text)
    expect(pool.size).toBe(0)
  })

  test('a bad signature', async () => {
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    const verifier = { messageSignatureError: () => 'invalid signature for message bafy (type 1): bad' }
    const { pool } = await openTestPool({ chain, verifier })
    expect(await failure(pool.push(testMessage(a1, a2, 0, 10n)))).toEqual({
      code: 'SIGNATURE_INVALID',
      message:
        'signature verification failed: failed to validate signature: invalid signature for message bafy (type 1): bad',
    })
  })

  test('a nonce that the chain has used', async () => {
    const { pool } = await poolWith(FIL, 9n)
    expect(await failure(pool.push(testMessage(a1, a2, 0, 10n)))).toEqual({
      code: 'NONCE_TOO_LOW',
      message: 'minimum expected nonce is 9, got 0: message nonce too low',
    })
  })

  test('the head tipset counts for the nonce', async () => {
    const { chain, pool } = await poolWith()
    chain.mine([testMessage(a1, a2, 0, 10n)])
    expect(await pool.nonce(a1)).toBe(1n)
    expect((await failure(pool.push(testMessage(a1, a2, 0, 11n)))).code).toBe('NONCE_TOO_LOW')
  })

  test('senders that may not send', async () => {
    const { chain, pool } = await poolWith()
    chain.setActor(a1, 0n, FIL, MINER_CODE)
    expect(await failure(pool.push(testMessage(a1, a2, 0, 10n)))).toEqual({
      code: 'SENDER_INVALID',
      message: `sender actor ${a1.toString('t')} is not a valid top-level sender`,
    })
    const stranger = keyAddress(9)
    const text = stranger.toString('t')
    expect(await failure(pool.push(testMessage(stranger, a2, 0, 10n)))).toEqual({
      code: 'SOFT_FAILURE',
      message: `failed to look up actor state nonce: resolution lookup failed (${text}): resolve address ${text}: actor not found: validation failure`,
    })
  })

  test('delegated addresses before they exist', async () => {
    const { chain, pool } = await poolWith()
    chain.version = 17
    const to = delegatedAddress(10n, new Uint8Array(20).fill(7))
    expect((await failure(pool.push(testMessage(a1, to, 0, 10n)))).message).toBe(
      "message not valid for block inclusion: 'To' address protocol unsupported for network version",
    )
  })

  test('funds that other pending messages need', async () => {
    const { pool } = await poolWith(2n * 110n * 6_955_002n)
    await pool.push(testMessage(a1, a2, 0, 10n))
    await pool.push(testMessage(a1, a2, 1, 10n))
    const found = await failure(pool.push(testMessage(a1, a2, 2, 10n)))
    expect(found.code).toBe('SOFT_FAILURE')
    expect(found.message).toMatch(
      /^failed to check balance: not enough funds including pending messages \(required: 0\.0+\d+ FIL, balance: 0\.0+\d+ FIL\): validation failure$/,
    )
  })
})

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

describe('head changes', () => {
  test('applied messages leave, whatever their CID', async () => {
    const { chain, pool } = await poolWith()
    for (const nonce of [0, 1]) await pool.push(testMessage(a1, a2, nonce, 10n))
    chain.mine([testMessage(a1, a2, 0, 999n)])
    expect(nonces(pool.pending().messages)).toEqual([1n])
    expect(await pool.nonce(a1)).toBe(2n)
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
