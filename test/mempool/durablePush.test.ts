/** Nothing of a message of ours is seen before it is durable, and one that cannot be written leaves no trace. */
import { describe, expect, test } from 'vitest'
import { MAX_HELD_MS } from '../../src/mempool/groupCommit.ts'
import { MessageSender } from '../../src/mempool/sendMessage.ts'
import { DEFAULT_SEND_SPEC, type SendSpec } from '../../src/mempool/sendSpec.ts'
import type { Message } from '../../src/types/message.ts'
import type { SignedMessage } from '../../src/types/signedMessage.ts'
import { FailingStore, StoreFault } from '../support/failingStore.ts'
import { FakeChain, keyAddress, openTestPool, type TestPool, testMessage } from './fakes.ts'

const a1 = keyAddress(1)
const a2 = keyAddress(2)
const FIL = 10n ** 18n
const bare: Message = {
  ...testMessage(a1, a2, 0, 0n).message,
  gasLimit: 0n,
  gasFeeCap: 0n,
  gasPremium: 0n,
  value: 5n,
}
const id = (n: number): SendSpec => ({
  ...DEFAULT_SEND_SPEC,
  msgUuid: `8d9c1b1e-6f9a-4e47-8f6c-0c1a7d1c${String(n).padStart(4, '0')}`,
})

interface Opened extends Omit<TestPool, 'store'> {
  readonly store: FailingStore
  readonly sender: MessageSender
  readonly heard: string[]
}

async function open(store = new FailingStore(), chain = new FakeChain()): Promise<Opened> {
  chain.setActor(a1, chain.actors.get(a1.key)?.nonce ?? 0n, FIL)
  chain.setActor(a2, 0n, FIL)
  const opened = await openTestPool({ chain, store })
  const heard: string[] = []
  opened.pool.subscribe(({ type, message }) => heard.push(`${type} ${message.message.nonce}`))
  const sender = new MessageSender({
    pool: opened.pool,
    store,
    resolveKeyAddress: (address) => address,
    estimate: async (message) => ({ ...message, gasLimit: 7_000_000n, gasFeeCap: 1000n, gasPremium: 100n }),
    balance: () => FIL,
    sign: (message) => ({ message, signature: { type: 1, data: new Uint8Array(65) } }),
    addressPrefix: 't',
  })
  return { ...opened, store, sender, heard }
}

test('a disk that is full is told of once, and once that it is written to again', async () => {
  const lines: string[] = []
  const say = (message: string): void => void lines.push(message)
  const chain = new FakeChain()
  chain.setActor(a1, 0n, FIL)
  const store = new FailingStore()
  const logger = { debug: () => {}, info: say, warn: say, error: say }
  const { pool } = await openTestPool({ chain, store, logger })
  store.fault = 'write'
  for (let i = 0; i < 3; i++) await expect(pool.push(testMessage(a1, a2, 0, 10n))).rejects.toThrow(StoreFault)
  store.fault = 'none'
  for (let i = 0; i < 3; i++) await pool.push(testMessage(a1, a2, i, 10n))
  expect(lines).toEqual([
    'mempool: messages are refused, they cannot be written',
    'mempool: messages are written again',
  ])
})

const stored = (store: FailingStore): number => [...store.keys()].length

async function expectNothing({ pool, store, published, heard, chain }: Opened): Promise<void> {
  expect(pool.size).toBe(0)
  expect(pool.pending().messages).toEqual([])
  expect(pool.pendingOf(a1)).toEqual([])
  expect(await pool.nonce(a1)).toBe(0n)
  expect(await pool.select(chain.head(), 1)).toBeUndefined()
  expect(published).toEqual([])
  expect(heard).toEqual([])
  expect(stored(store)).toBe(0)
}

describe.each(['write', 'flush'] as const)('a %s that fails', (fault) => {
  test('a push leaves no trace, and the same message goes when the disk takes it', async () => {
    const opened = await open()
    opened.store.fault = fault
    const signed = testMessage(a1, a2, 0, 10n)
    await expect(opened.pool.push(signed)).rejects.toThrow(StoreFault)
    await expectNothing(opened)
    opened.store.fault = 'none'
    await opened.pool.push(signed)
    expect(opened.heard).toEqual(['add 0'])
    expect(opened.published).toHaveLength(1)
  })

  test('a send with a MsgUuid is repeated, and pays once', async () => {
    const opened = await open()
    const { store, sender, pool, published } = opened
    store.fault = fault
    for (let i = 0; i < 3; i++) await expect(sender.send(bare, id(1))).rejects.toThrow(StoreFault)
    await expectNothing(opened)
    store.fault = 'none'
    const sent = await sender.send(bare, id(1))
    expect(sent.message.nonce).toBe(0n)
    expect(await sender.send(bare, id(1))).toEqual(sent)
    expect(pool.size).toBe(1)
    expect(published).toHaveLength(1)
  })

  test('sends of the same moment fail together and leave no nonce out', async () => {
    const opened = await open()
    const { store, sender, pool } = opened
    await sender.send(bare, id(0))
    store.fault = fault
    const failed = await Promise.allSettled([1, 2, 3, 4].map((n) => sender.send(bare, id(n))))
    expect(failed.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    expect(pool.pendingOf(a1).map(({ message }) => message.nonce)).toEqual([0n])
    store.fault = 'none'
    const sent = await Promise.all([1, 2, 3, 4].map((n) => sender.send(bare, id(n))))
    expect(sent.map(({ message }) => message.nonce)).toEqual([1n, 2n, 3n, 4n])
    expect(await pool.nonce(a1)).toBe(5n)
  })

  test('the settings stay as they were', async () => {
    const { pool, store } = await open()
    const before = pool.config()
    store.fault = fault
    await expect(pool.setConfig({ ...before, sizeLimitHigh: 50_000 })).rejects.toThrow(StoreFault)
    expect(pool.config()).toEqual(before)
  })
})

describe('while it is being written', () => {
  function gated(store: FailingStore): () => void {
    let release: () => void = () => undefined
    store.gate = new Promise((resolve) => {
      release = resolve
    })
    return release
  }

  /** Lets everything happen that can without the disk: turns of the loop. */
  async function settle(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 0))
  }

  test('nobody sees the message; then everybody does', async () => {
    const opened = await open()
    const { pool, store, published, heard, chain } = opened
    const release = gated(store)
    let answered = false
    const push = pool.push(testMessage(a1, a2, 0, 10n)).then(() => {
      answered = true
    })
    await settle()
    expect(store.flushes).toBe(1)
    expect(answered).toBe(false)
    expect(pool.size).toBe(0)
    expect(await pool.nonce(a1)).toBe(0n)
    expect(await pool.select(chain.head(), 1)).toBeUndefined()
    expect(published).toEqual([])
    expect(heard).toEqual([])
    release()
    await push
    expect(pool.size).toBe(1)
    expect(await pool.nonce(a1)).toBe(1n)
    expect(published).toHaveLength(1)
  })

  test('the next sends go on behind it and fail with it', async () => {
    const { store, sender, pool } = await open()
    const release = gated(store)
    const first = sender.send(bare, id(1))
    await settle()
    const second = sender.send(bare, id(2))
    await settle()
    store.fault = 'flush'
    release()
    const ended = await Promise.allSettled([first, second])
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    store.fault = 'none'
    expect((await sender.send(bare, id(2))).message.nonce).toBe(0n)
    expect(pool.size).toBe(1)
  })

  test('a number chosen behind one that failed is chosen anew', async () => {
    const chain = new FakeChain()
    const store = new FailingStore()
    const opened = await open(store, chain)
    let signing: () => void = () => undefined
    const signed: bigint[] = []
    let wait: Promise<void> | undefined
    const sender = new MessageSender({
      pool: opened.pool,
      store,
      resolveKeyAddress: (address) => address,
      estimate: async (message) => ({ ...message, gasLimit: 7_000_000n, gasFeeCap: 1000n, gasPremium: 100n }),
      balance: () => FIL,
      sign: async (message): Promise<SignedMessage> => {
        signed.push(message.nonce)
        await wait
        return { message, signature: { type: 1, data: new Uint8Array(65) } }
      },
      addressPrefix: 't',
    })
    const release = gated(store)
    const first = sender.send(bare, id(1))
    await settle()
    wait = new Promise((resolve) => {
      signing = resolve
    })
    const second = sender.send(bare, id(2))
    await settle()
    expect(signed).toEqual([0n, 1n])
    store.fault = 'flush'
    release()
    await expect(first).rejects.toThrow(StoreFault)
    store.fault = 'none'
    signing()
    expect((await second).message.nonce).toBe(0n)
    expect(signed).toEqual([0n, 1n, 0n])
  })

  test('the same MsgUuid again gives the same message', async () => {
    const { store, sender, pool } = await open()
    const release = gated(store)
    const first = sender.send(bare, id(1))
    await settle()
    // Of another sender even: the id names one send.
    const again = sender.send({ ...bare, from: a2 }, id(1))
    await settle()
    release()
    expect(await again).toEqual(await first)
    expect(pool.size).toBe(1)
  })

  test('a message of a peer for the same nonce has to pay more', async () => {
    const { store, pool, published } = await open()
    const release = gated(store)
    const ours = pool.push(testMessage(a1, a2, 0, 1000n))
    await settle()
    await expect(pool.add(testMessage(a1, a2, 0, 1001n))).rejects.toMatchObject({ code: 'REPLACE_PREMIUM_TOO_LOW' })
    await pool.add(testMessage(a1, a2, 0, 2000n))
    release()
    await ours
    expect(pool.pendingOf(a1).map(({ message }) => message.gasPremium)).toEqual([2000n])
    expect(published).toEqual([])
  })
})

describe('group commit', () => {
  test('pushes of the same moment share a flush', async () => {
    const { pool, store } = await open()
    await Promise.all(Array.from({ length: 50 }, (_, nonce) => pool.push(testMessage(a1, a2, nonce, 10n))))
    expect(store.flushes).toBe(1)
    expect(pool.size).toBe(50)
  })

  test('sends of one sender at the same moment share flushes, too', async () => {
    const { sender, store, pool } = await open()
    const sent = await Promise.all(Array.from({ length: 50 }, (_, n) => sender.send(bare, id(n))))
    expect(sent.map(({ message }) => message.nonce)).toEqual(Array.from({ length: 50 }, (_, n) => BigInt(n)))
    expect(pool.size).toBe(50)
    expect(store.flushes).toBeLessThan(50)
  })

  test('a send that is being priced is waited for, but not long', async () => {
    const { pool, store, time } = await open()
    const came = pool.announce()
    const first = pool.push(testMessage(a1, a2, 0, 10n))
    await time.pass(19)
    expect(store.flushes).toBe(0)
    await time.pass(1)
    await first
    expect(store.flushes).toBe(1)
    const second = pool.push(testMessage(a1, a2, 1, 10n))
    await time.pass(5)
    const third = pool.push(testMessage(a1, a2, 2, 10n))
    await time.pass(5)
    expect(store.flushes).toBe(1)
    came()
    await Promise.all([second, third])
    expect(store.flushes).toBe(2)
    expect(pool.size).toBe(3)
  })

  test('what is held is flushed once', async () => {
    const { pool, store, time } = await open()
    const release = pool.holdFlush()
    const pushes: Promise<unknown>[] = []
    for (let nonce = 0; nonce < 5; nonce++) {
      pushes.push(pool.push(testMessage(a1, a2, nonce, 10n)))
      await time.pass(1)
    }
    expect(store.flushes).toBe(0)
    release()
    await Promise.all(pushes)
    expect(store.flushes).toBe(1)
  })

  test('nobody is held for long by requests without an end', async () => {
    const { pool, store, time } = await open()
    let release = pool.holdFlush()
    const push = pool.push(testMessage(a1, a2, 0, 10n))
    await time.pass(MAX_HELD_MS - 1)
    const next = pool.holdFlush()
    release()
    release = next
    expect(store.flushes).toBe(0)
    await time.pass(1)
    await push
    expect(store.flushes).toBe(1)
    const later = pool.push(testMessage(a1, a2, 1, 10n))
    release()
    await later
    expect(store.flushes).toBe(2)
  })
})

test('an executed message leaves the pool though nothing can be written', async () => {
  const { pool, chain, store } = await open()
  const signed = testMessage(a1, a2, 0, 10n)
  await pool.push(signed)
  store.fault = 'write'
  chain.mine([signed])
  expect(pool.size).toBe(0)
})

describe('a batch is numbered without a hole or a nonce twice', () => {
  const send = (sender: MessageSender, n: number) => sender.start({ ...bare, value: BigInt(n) }, id(n))

  test('where the pool has lost messages whose nonces were given out', async () => {
    const first = await open()
    for (let n = 0; n < 3; n++) await first.sender.send(bare, id(n))
    await first.pool.clear(true)
    const release = first.pool.holdFlush()
    const started = []
    for (let n = 3; n < 6; n++) started.push(await send(first.sender, n))
    release()
    await Promise.all(started.map(({ durable }) => durable))
    expect(started.map(({ signed }) => signed.message.nonce)).toEqual([3n, 4n, 5n])
    expect(first.pool.pendingOf(a1).map(({ message }) => message.nonce)).toEqual([3n, 4n, 5n])
  })

  test('where the chain takes the message itself while it is on its way to disk: it is not pending after that', async () => {
    const { pool, store, chain, published } = await open()
    const { promise, resolve } = Promise.withResolvers<void>()
    store.gate = promise
    const signed = testMessage(a1, a2, 0, 10n)
    const push = pool.push(signed)
    while (store.flushes === 0) await new Promise((next) => setTimeout(next, 0))
    chain.mine([signed])
    chain.setActor(a1, 1n, FIL)
    resolve()
    await push
    expect([pool.size, published.length]).toEqual([0, 0])
    expect(await pool.nonce(a1)).toBe(1n)
  })

  test('where the chain takes what came before while it is on its way to disk', async () => {
    const { pool, sender, chain } = await open()
    const before = [await sender.send(bare, id(0)), await sender.send(bare, id(1))]
    let release = pool.holdFlush()
    const third = await send(sender, 2)
    chain.mine(before)
    release()
    await third.durable
    expect(await pool.nonce(a1)).toBe(3n)
    release = pool.holdFlush()
    const started = [await send(sender, 3), await send(sender, 4)]
    release()
    await Promise.all(started.map(({ durable }) => durable))
    expect(started.map(({ signed }) => signed.message.nonce)).toEqual([3n, 4n])
  })
})
