/** What a signer signs, and what it refuses. */
import { describe, expect, test } from 'vitest'
import { encode } from '../../src/codec/description.ts'
import { parseAddress } from '../../src/types/address.ts'
import { type Message, messageCid, message as messageCodec } from '../../src/types/message.ts'
import { PolicyGuard, parsePolicy } from '../../src/wallet/signingPolicy.ts'

const FIL = 10n ** 18n
// Addresses of go-address' tests.
const KEY = 'f15ihq5ibzwki2b4ep2f46avlkrqzhpqgtga7pdrq'
const OTHER = 'f12fiakbhe2gwd5cnmrenekasyn6v5tnaxaqizq6a'
const THIRD = 'f1wbxhu3ypkuo6eyp6hjx6davuelxaxrvwb2kuwva'
const HOUR_MS = 3_600_000

const policy = parsePolicy({ keys: { [KEY]: { dailyLimit: '10 FIL', recipients: [OTHER] } }, chainId: 314 })
const key = parseAddress(KEY)

function unsigned(extra: Partial<Message> = {}): Message {
  return {
    version: 0,
    to: parseAddress(OTHER),
    from: key,
    nonce: 0n,
    value: 4n * FIL,
    gasLimit: 0n,
    gasFeeCap: 0n,
    gasPremium: 0n,
    method: 0n,
    params: new Uint8Array(0),
    ...extra,
  }
}

const metaOf = (one: Message) => ({ type: 'message', extra: encode(messageCodec, one) })
const ask = (guard: PolicyGuard, one: Message, nowMs = 0) =>
  guard.allowed(key, messageCid(one).bytes, metaOf(one), nowMs)
const sign = (guard: PolicyGuard, one: Message, nowMs = 0): void => guard.count(ask(guard, one, nowMs).entry)
const refusal = (text: string) =>
  expect.objectContaining({ code: 'POLICY_REFUSED', message: expect.stringContaining(text) })

function thrown(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('a policy', () => {
  test('lets through what it lists', () => {
    expect(ask(new PolicyGuard(policy, []), unsigned()).entry.spends).toBe(4n * FIL)
  })

  test.each<[string, Partial<Message>]>([
    ['recipient', { to: parseAddress(THIRD) }],
    ['method 2', { method: 2n }],
    ['the message is from', { from: parseAddress(THIRD) }],
    ['limit', { value: 11n * FIL }],
    ['limit', { gasLimit: 10n ** 10n, gasFeeCap: 10n ** 9n }],
    ['negative', { value: -1n }],
  ])('refuses: %s', (text, extra) => {
    expect(thrown(() => ask(new PolicyGuard(policy, []), unsigned(extra)))).toEqual(refusal(text))
  })

  test('refuses what it does not understand', () => {
    const guard = new PolicyGuard(policy, [])
    const one = unsigned()
    const { bytes } = messageCid(one)
    const other = metaOf(unsigned({ nonce: 1n }))
    expect(thrown(() => guard.allowed(key, bytes, other, 0))).toEqual(refusal('the bytes are not those'))
    expect(thrown(() => guard.allowed(key, bytes, { type: 'unknown', extra: null }, 0))).toEqual(
      refusal('messages alone'),
    )
    expect(thrown(() => guard.allowed(key, bytes, { type: 'block', extra: null }, 0))).toEqual(
      refusal('messages alone'),
    )
    const cut = { type: 'message', extra: encode(messageCodec, one).subarray(1) }
    expect(thrown(() => guard.allowed(key, bytes, cut, 0))).toEqual(refusal('understand'))
    expect(thrown(() => guard.allowed(parseAddress(OTHER), bytes, metaOf(one), 0))).toEqual(refusal('not listed'))
  })

  test('counts 24 hours, a nonce once at its dearest, and what the log holds', () => {
    const guard = new PolicyGuard(policy, [])
    sign(guard, unsigned())
    sign(guard, unsigned({ value: 5n * FIL }))
    sign(guard, unsigned({ nonce: 1n, value: 5n * FIL }), HOUR_MS)
    expect(thrown(() => ask(guard, unsigned({ nonce: 2n, value: 1n }), 2 * HOUR_MS))).toEqual(refusal('limit'))
    sign(guard, unsigned({ nonce: 2n, value: 5n * FIL }), 24 * HOUR_MS)
    const entry = { timeMs: 0, from: key.key, nonce: 9n, spends: 8n * FIL }
    expect(thrown(() => ask(new PolicyGuard(policy, [entry]), unsigned(), 1))).toEqual(refusal('limit'))
  })

  test('counts what was signed before a clock went a day ahead and back', () => {
    const guard = new PolicyGuard(policy, [])
    sign(guard, unsigned({ value: 9n * FIL }))
    sign(guard, unsigned({ nonce: 1n, value: 0n }), 25 * HOUR_MS)
    expect(thrown(() => ask(guard, unsigned({ nonce: 2n, value: 9n * FIL }), 1000))).toEqual(refusal('limit'))
  })

  test.each<[string, unknown]>([
    ['dailylimit', { keys: { [KEY]: { dailylimit: '1' } } }],
    ['recipients', { keys: { [KEY]: { recipients: OTHER } } }],
    ['methods', { keys: { [KEY]: { methods: ['0'] } } }],
    ['invalid', { keys: { f1nonsense: {} } }],
    ['keys', {}],
    ['twice', { keys: { [KEY]: { dailyLimit: '1 FIL' }, [`t${KEY.slice(1)}`]: {} } }],
    ['kyes', { kyes: {} }],
  ])('that is wrong is refused: %s', (text, json) => {
    expect(thrown(() => parsePolicy(json))).toMatchObject({
      code: 'POLICY_INVALID',
      message: expect.stringContaining(text),
    })
  })
})
