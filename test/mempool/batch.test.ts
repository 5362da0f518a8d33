/** Many signed messages at once: each is judged as if it came alone, whatever is checked together. */
import { describe, expect, test } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { aggregate, publicKey, sign } from '../../src/crypto/bls.ts'
import { MESSAGES_AHEAD, SIGNATURES_AHEAD } from '../../src/mempool/limits.ts'
import type { MessageVerifier } from '../../src/mempool/ports.ts'
import { messageVerifier } from '../../src/mempool/verifyMessage.ts'
import { type Address, blsAddress } from '../../src/types/address.ts'
import { messageCid } from '../../src/types/message.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { FakeChain, openTestPool, type TestPool, testMessage } from './fakes.ts'
import { a1, a2, FIL, nonces } from './fundedPool.ts'

const BLS = 2
const keys = [1, 2].map((n) => fromHex(`${String(n).padStart(2, '0')}${'00'.repeat(31)}`))
const [b1, b2] = keys.map((key) => blsAddress(publicKey(key))) as [Address, Address]

/** Signed by the sender's key. */
function byBls(from: Address, nonce: number): SignedMessage {
  const { message } = testMessage(from, a2, nonce, 10n)
  const key = keys[from === b1 ? 0 : 1] as Uint8Array
  return { message, signature: { type: BLS, data: sign(messageCid(message).bytes, key) } }
}

const withSignature = ({ message }: SignedMessage, data: Uint8Array): SignedMessage => ({
  message,
  signature: { type: BLS, data },
})

interface Opened extends TestPool {
  /** How many were checked together, and which by themselves. */
  readonly together: number[]
  readonly alone: SignedMessage[]
}

/** Secp256k1 signatures all hold; BLS ones are verified. */
async function open(): Promise<Opened> {
  const chain = new FakeChain()
  for (const address of [a1, a2, b1, b2]) chain.setActor(address, 0n, FIL)
  const [together, alone]: [number[], SignedMessage[]] = [[], []]
  const real = messageVerifier(314)
  const verifier: MessageVerifier = {
    messageSignatureError: (signed) => {
      if (signed.signature.type !== BLS) return undefined
      alone.push(signed)
      return real.messageSignatureError(signed)
    },
    areBlsMessagesValid: (all) => {
      together.push(all.length)
      return real.areBlsMessagesValid(all)
    },
  }
  return { ...(await openTestPool({ chain, verifier })), together, alone }
}

/** What MpoolBatchPush does: until one is refused. */
async function pushAll({ pool }: TestPool, all: readonly SignedMessage[]): Promise<unknown> {
  const durable: Promise<void>[] = []
  try {
    for await (const one of pool.reserveAll(all)) durable.push(one.durable)
    return undefined
  } catch (error) {
    return error
  } finally {
    await Promise.all(durable)
  }
}

describe('BLS messages of a batch', () => {
  test('are verified in one check, and enter in order', async () => {
    const opened = await open()
    const all = [byBls(b1, 0), byBls(b2, 0), testMessage(a1, a2, 0, 10n), byBls(b1, 1), byBls(b1, 2)]
    expect(await pushAll(opened, all)).toBeUndefined()
    expect(opened.together).toEqual([4])
    expect(opened.alone).toEqual([])
    expect(nonces(opened.pool.pendingOf(b1).map(({ signed }) => signed))).toEqual([0n, 1n, 2n])
    expect(opened.pool.size).toBe(5)
    expect(opened.published).toHaveLength(5)
  })

  test('what was verified once is not verified again', async () => {
    const opened = await open()
    const all = [byBls(b1, 0), byBls(b2, 0)]
    await pushAll(opened, all)
    await opened.pool.clear(true)
    expect(await pushAll(opened, all)).toBeUndefined()
    expect(opened.together).toEqual([2])
    expect(opened.alone).toEqual([])
  })

  test.each([
    ['of another message', (before: SignedMessage) => before.signature.data],
    ['that is no point', () => new Uint8Array(96).fill(255)],
  ])('a signature %s ends the batch at its place; what came before stays', async (_, wrong) => {
    const opened = await open()
    const good = [byBls(b1, 0), byBls(b2, 0)]
    const bad = withSignature(byBls(b1, 1), wrong(good[0] as SignedMessage))
    const cid = signedMessageCid(bad).toString()
    expect(await pushAll(opened, [...good, bad, byBls(b2, 1)])).toMatchObject({
      code: 'SIGNATURE_INVALID',
      message:
        'signature verification failed: failed to validate signature: ' +
        `invalid signature for message ${cid} (type 2): bls signature failed to verify`,
    })
    expect(opened.pool.pending().messages).toEqual(good)
    expect([...opened.store.keys()]).toHaveLength(2)
    expect(opened.published).toHaveLength(2)
  })

  test('two wrong signatures do not make up for each other', async () => {
    const opened = await open()
    const [first, second, other] = [byBls(b1, 0), byBls(b1, 1), byBls(b2, 0)]
    // The sign of a compressed point is a bit.
    const negated = other.signature.data.slice()
    negated[0] = (negated[0] as number) ^ 0x20
    const moved = [
      withSignature(first, aggregate([first.signature.data, other.signature.data])),
      withSignature(second, aggregate([second.signature.data, negated])),
    ]
    const sum = (all: readonly SignedMessage[]): Uint8Array => aggregate(all.map(({ signature }) => signature.data))
    expect(sum(moved)).toEqual(sum([first, second]))
    expect(await pushAll(opened, moved)).toMatchObject({ code: 'SIGNATURE_INVALID' })
    expect(opened.pool.size).toBe(0)
  })

  test('the first that is refused says why, though a later signature is wrong', async () => {
    const opened = await open()
    opened.chain.setActor(b1, 5n, FIL)
    const bad = withSignature(byBls(b2, 1), byBls(b2, 2).signature.data)
    expect(await pushAll(opened, [byBls(b2, 0), byBls(b1, 4), bad])).toMatchObject({
      code: 'NONCE_TOO_LOW',
      message: 'minimum expected nonce is 5, got 4: message nonce too low',
    })
    expect(opened.pool.size).toBe(1)
  })

  test('a signature of the wrong length is refused in its turn', async () => {
    const opened = await open()
    const short = withSignature(byBls(b1, 0), new Uint8Array(95))
    expect(await pushAll(opened, [testMessage(a1, a2, 0, 10n), short, byBls(b2, 0)])).toMatchObject({
      message: 'signature verification failed: bls signature incorrectly sized',
    })
    expect(opened.pool.size).toBe(1)
  })
})

test('so many signatures are verified in one check', async () => {
  const opened = await open()
  const all = Array.from({ length: SIGNATURES_AHEAD + 1 }, (_, nonce) => byBls(b1, nonce))
  expect(await pushAll(opened, all)).toBeUndefined()
  expect(opened.together).toEqual([SIGNATURES_AHEAD])
  expect(opened.alone).toEqual([all.at(-1)])
})

test('others have their turn within a long batch', async () => {
  const opened = await open()
  const { pool, time } = opened
  const all = Array.from({ length: MESSAGES_AHEAD + 1 }, (_, nonce) => testMessage(a1, a2, nonce, 10n))
  let turns = 0
  const seen: number[] = []
  const durable: Promise<void>[] = []
  time.setTimeout(() => turns++, 0)
  for await (const one of pool.reserveAll(all)) {
    seen.push(turns)
    durable.push(one.durable)
  }
  await Promise.all(durable)
  expect([seen[0], seen[MESSAGES_AHEAD - 1], seen[MESSAGES_AHEAD]]).toEqual([0, 0, 1])
  expect(pool.size).toBe(MESSAGES_AHEAD + 1)
})
