/** What the pool refuses. Texts are those of the recorded session and of lotus chain/messagepool/messagepool.go. */
import { describe, expect, test } from 'vitest'
import type { MempoolErrorCode } from '../../src/mempool/errors.ts'
import { delegatedAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { FakeChain, keyAddress, MINER_CODE, openTestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL, failure, poolWith } from './fundedPool.ts'

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
      'too little gas for the machine, though enough for a block: it would be refused there, and its nonce stay unused',
      { gasLimit: 400_000n, params: new Uint8Array(20) },
      'MESSAGE_INVALID',
      "verify msg failed: message will not be executed: 'GasLimit' field cannot be less than what a message costs 400000 < 749163",
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
    else expect(found.message.replace(/< 2\d{5}$/, '< 219863').replace(/< 7\d{5}$/, '< 749163')).toBe(text)
    expect(pool.size).toBe(0)
  })

  test('a bad signature', async () => {
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    const bad = 'invalid signature for message bafy (type 1): bad'
    const verifier = { messageSignatureError: () => bad, areBlsMessagesValid: () => false }
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
