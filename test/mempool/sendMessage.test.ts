/** Sending from the node's wallet: numbers, ids, order of failures. Texts from the recorded session. */

import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { MempoolError } from '../../src/mempool/errors.ts'
import type { MessagePool } from '../../src/mempool/messagePool.ts'
import { MessageSender, type SendDeps } from '../../src/mempool/sendMessage.ts'
import { DEFAULT_SEND_SPEC, type SendSpec, sendSpec } from '../../src/mempool/sendSpec.ts'
import { delegatedAddress, idAddress } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { ACCOUNT_CODE, FakeChain, keyAddress, openTestPool, testMessage } from './fakes.ts'

const a1 = keyAddress(1)
const a2 = keyAddress(2)
const FIL = 10n ** 18n
const ID = '8d9c1b1e-6f9a-4e47-8f6c-0c1a7d1c0001'

const bare: Message = {
  ...testMessage(a1, a2, 0, 0n).message,
  gasLimit: 0n,
  gasFeeCap: 0n,
  gasPremium: 0n,
  value: 5n,
}

async function senderWith(parts: Partial<SendDeps> = {}, store = new MemoryStore(), chain = new FakeChain()) {
  chain.setActor(a1, chain.actors.get(a1.key)?.nonce ?? 0n, FIL)
  const opened = await openTestPool({ chain, store })
  const sender = new MessageSender({
    pool: opened.pool,
    store,
    resolveKeyAddress: (address) => (address.equals(idAddress(1003)) ? a1 : address),
    estimate: async (message) => ({ ...message, gasLimit: 7_000_000n, gasFeeCap: 1000n, gasPremium: 100n }),
    balance: () => FIL,
    sign: (message) => ({ message, signature: { type: 1, data: new Uint8Array(65) } }),
    addressPrefix: 't',
    ...parts,
  })
  return { ...opened, store, sender }
}

async function text(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'no failure',
    (error: Error) => error.message,
  )
}

describe('numbers', () => {
  test('rise with each message, also of sends at the same time', async () => {
    const { sender } = await senderWith()
    const sent = await Promise.all(
      [1, 2, 3].map((value) => sender.send({ ...bare, value: BigInt(value) }, DEFAULT_SEND_SPEC)),
    )
    expect(sent.map((one) => one.message.nonce)).toEqual([0n, 1n, 2n])
  })

  test('each send is priced behind those of its sender that have a place, on disk or not', async () => {
    let pool: MessagePool | undefined
    const before: number[] = []
    const opened = await senderWith({
      estimate: async (message) => {
        before.push(pool?.placedOf(a1).length ?? -1)
        await Promise.resolve()
        return { ...message, gasLimit: 7_000_000n, gasFeeCap: 1000n, gasPremium: 100n }
      },
    })
    pool = opened.pool
    await Promise.all([1, 2, 3].map(() => opened.sender.send(bare, DEFAULT_SEND_SPEC)))
    expect(before).toEqual([0, 1, 2])
  })

  test('are not given out again when a message vanishes', async () => {
    const { sender, pool, store } = await senderWith()
    await sender.send(bare, DEFAULT_SEND_SPEC)
    await pool.clear(true)
    expect(await pool.nonce(a1)).toBe(0n)
    const again = await senderWith({}, store)
    expect((await again.sender.send(bare, DEFAULT_SEND_SPEC)).message.nonce).toBe(1n)
  })

  test('are not used up by a failure', async () => {
    let fails = true
    const { sender } = await senderWith({
      sign: (message) => {
        if (fails) throw new MempoolError('ESTIMATION_FAILED', 'locked')
        return { message, signature: { type: 1, data: new Uint8Array(65) } }
      },
    })
    expect(await text(sender.send(bare, DEFAULT_SEND_SPEC))).toBe('locked')
    fails = false
    expect((await sender.send(bare, DEFAULT_SEND_SPEC)).message.nonce).toBe(0n)
  })

  test('stand on disk as Lotus writes them', async () => {
    const { sender, store } = await senderWith()
    await sender.send(bare, DEFAULT_SEND_SPEC)
    const key = utf8(`/message-signer/ActorNextNonce/${a1.toString('f')}`)
    expect(store.get(key)).toEqual(Uint8Array.of(1))
  })
})

describe('an id', () => {
  const spec: SendSpec = { ...DEFAULT_SEND_SPEC, msgUuid: ID }

  test('gives the same message again, also after a restart', async () => {
    const { sender, store, pool } = await senderWith()
    const [first, second] = await Promise.all([sender.send(bare, spec), sender.send({ ...bare, value: 9n }, spec)])
    expect(second).toEqual(first)
    expect(pool.size).toBe(1)
    const again = await senderWith({}, store)
    expect(await again.sender.send(bare, spec)).toEqual(first)
  })

  test('is not used up by a failure', async () => {
    let balance = 0n
    const { sender } = await senderWith({ balance: () => balance })
    expect(await text(sender.send(bare, spec))).toBe('mpool push: not enough funds: 0 < 7000000005')
    balance = FIL
    expect((await sender.send(bare, spec)).message.nonce).toBe(0n)
  })
})

describe('failures, in their order', () => {
  test('a delegated recipient that is no Ethereum address', async () => {
    const to = delegatedAddress(10n, new Uint8Array(19))
    const { sender } = await senderWith()
    expect(await text(sender.send({ ...bare, to, nonce: 5n }, DEFAULT_SEND_SPEC))).toBe(
      `message from ${a1.toString('t')} failed sanity check: message recipient ${to.toString('t')} is a delegated address but not a valid Eth Address`,
    )
  })

  test('a sender that cannot be resolved', async () => {
    const { sender } = await senderWith({
      resolveKeyAddress: () => {
        throw new ChainError('ACTOR_NOT_FOUND', 'failed to find actor: <empty>')
      },
    })
    expect(await text(sender.send(bare, DEFAULT_SEND_SPEC))).toBe('getting key address: failed to find actor: <empty>')
  })

  test('state that is not here is no unknown sender: whoever can fetch it does, and asks again', async () => {
    const missing = new BlockMissing([ACCOUNT_CODE])
    const { sender } = await senderWith({
      resolveKeyAddress: () => {
        throw missing
      },
    })
    await expect(sender.send(bare, DEFAULT_SEND_SPEC)).rejects.toBe(missing)
  })

  test('a nonce of the caller', async () => {
    const { sender } = await senderWith()
    expect(await text(sender.send({ ...bare, nonce: 77n }, DEFAULT_SEND_SPEC))).toBe(
      'MpoolPushMessage expects message nonce to be 0, was 77',
    )
  })

  test('an estimate that fails keeps its code', async () => {
    const { sender } = await senderWith({
      estimate: async () => {
        throw new MempoolError('OUT_OF_GAS', 'call ran out of gas')
      },
    })
    await expect(sender.send(bare, DEFAULT_SEND_SPEC)).rejects.toMatchObject({
      code: 'OUT_OF_GAS',
      message: 'GasEstimateMessageGas error: call ran out of gas',
    })
  })

  test('a fee limit that leaves nothing', async () => {
    const { sender } = await senderWith({
      estimate: async (message) => ({ ...message, gasLimit: 1_516_578n, gasFeeCap: 0n, gasPremium: 0n }),
    })
    expect(await text(sender.send(bare, { ...DEFAULT_SEND_SPEC, maxFee: 1000n }))).toBe(
      'mpool push: failed to push message: gas fee cap too low',
    )
  })
})

test('an f0 sender is replaced by its key address', async () => {
  const { sender } = await senderWith()
  const signed = await sender.send({ ...bare, from: idAddress(1003) }, DEFAULT_SEND_SPEC)
  expect(signed.message.from.equals(a1)).toBe(true)
})

test('a signature is verified unless the key that made it is here', async () => {
  const verifier = { messageSignatureError: () => 'not by that key', areBlsMessagesValid: () => false }
  const sent = async (isKeyHere: SendDeps['isKeyHere']): Promise<string> => {
    const chain = new FakeChain()
    chain.setActor(a1, 0n, FIL)
    const { pool } = await openTestPool({ chain, verifier })
    const { sender } = await senderWith({ pool, ...(isKeyHere === undefined ? {} : { isKeyHere }) })
    return await text(sender.send(bare, DEFAULT_SEND_SPEC))
  }
  expect(await sent(undefined)).toContain('failed to validate signature: not by that key')
  expect(await sent(() => false)).toContain('failed to validate signature: not by that key')
  expect(await sent((key) => key.equals(a1))).toBe('no failure')
})

describe('the send specification', () => {
  const context = { addressPrefix: 't' } as const
  test('reads what the recorded session sent, and the documented overestimation', () => {
    expect(sendSpec.fromJson(null, context)).toEqual(DEFAULT_SEND_SPEC)
    expect(
      sendSpec.fromJson({ MaxFee: '1000000000000000000', MsgUuid: ID.toUpperCase(), MaximizeFeeCap: true }, context),
    ).toEqual({ maxFee: FIL, msgUuid: ID, maximizeFeeCap: true, gasLimitOverestimation: undefined })
    expect(sendSpec.fromJson({ MaxFee: '0', GasLimitOverestimation: 1.5 }, context).gasLimitOverestimation).toBe(1.5)
    expect(sendSpec.fromJson({ MsgUuid: '00000000-0000-0000-0000-000000000000' }, context).msgUuid).toBeUndefined()
  })
  test.each([{ GasLimitOverestimation: 0.5 }, { MsgUuid: 'abc' }, { MaxFee: 5 }, 7])('refuses %j', (json) => {
    expect(() => sendSpec.fromJson(json, context)).toThrow()
  })
})

describe('a send that nobody waits for any more', () => {
  const slowSigner = () => {
    const asked: (() => void)[] = []
    const sign = (message: Message) =>
      new Promise<SignedMessage>((resolve) =>
        asked.push(() => resolve({ message, signature: { type: 1, data: new Uint8Array(65) } })),
      )
    return { asked, sign }
  }

  test('is not sent when its signer answers after all, nor when its turn comes', async () => {
    const { asked, sign } = slowSigner()
    const { sender, pool } = await senderWith({ sign })
    const callers = [0, 1, 2].map(() => new AbortController())
    const sends = callers.map(({ signal }) => text(sender.send(bare, DEFAULT_SEND_SPEC, { signal })))
    while (asked.length === 0) await Promise.resolve()
    callers[0]?.abort()
    callers[1]?.abort()
    asked[0]?.()
    while (asked.length === 1) await Promise.resolve()
    asked[1]?.()
    expect(await Promise.all(sends)).toEqual(['context canceled', 'context canceled', 'no failure'])
    expect(asked.length).toBe(2)
    expect(pool.pendingOf(a1).map(({ message }) => message.nonce)).toEqual([0n])
  })

  test('is sent all the same where it has an id: whoever asks again gets it', async () => {
    const { asked, sign } = slowSigner()
    const { sender } = await senderWith({ sign })
    const spec = { ...DEFAULT_SEND_SPEC, msgUuid: '8d9c1b1e-6f9a-4e47-8f6c-0c1a7d1c0009' }
    const caller = new AbortController()
    const first = sender.send(bare, spec, { signal: caller.signal })
    const again = sender.send(bare, spec)
    while (asked.length === 0) await Promise.resolve()
    caller.abort()
    asked[0]?.()
    expect(await again).toEqual(await first)
    expect(asked.length).toBe(1)
  })
})
