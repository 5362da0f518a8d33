/** Estimates of transfers stand in the thread's own queue; everything else waits in the node until the thread is free. */
import { beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { CallOptions, InvocResult } from '../../src/chain/vm.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { getBlock } from '../../src/ipld/blockstore.ts'
import { UNDEF_ADDRESS } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { type DevnetNode, devnetNode } from '../support/devnetNode.ts'
import { LOG } from './scriptedWorld.ts'
import { type FakeThread, HandTimers, machineOf, startFakeThread } from './threadPair.ts'

const OPTIONS: CallOptions = {
  priorMessages: [],
  tipsetMessages: 'none',
  skipSenderValidation: false,
  tracing: false,
}
/** More than a thread is asked at once. */
const MANY = 40

let node: DevnetNode
let threads: FakeThread[]
let timers: HandTimers
/** Questions that went to the thread. */
let posted: number
/** Nonces of calls in the order in which the thread begins them. */
let begun: bigint[]
/** Ends the call that runs. */
let end: () => void
let onBegun: () => void

function numbered(nonce: bigint, method = 0n): Message {
  const amounts = { value: 0n, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n }
  return { version: 0, to: UNDEF_ADDRESS, from: UNDEF_ADDRESS, nonce, ...amounts, method, params: utf8('') }
}

async function haveBegun(count: number): Promise<void> {
  while (begun.length < count) {
    await new Promise<void>((resolve) => {
      onBegun = resolve
    })
  }
}

/** A host whose thread has what it needs of the chain. @param work - at the end of each call, with its nonce */
async function open(
  work: (nonce: bigint, host: { checkpoint(): void; read(): void }) => void = () => undefined,
  most = 1,
): Promise<WorkerVmHost> {
  const startThread = (): FakeThread => {
    const thread = startFakeThread({
      blocks: undefined,
      log: LOG,
      createHost: (store, _network, checkpoint) =>
        machineOf({
          callWithGas: async ({ nonce }) => {
            begun.push(nonce)
            const ended = new Promise<void>((resolve) => {
              end = resolve
            })
            onBegun()
            await ended
            if (nonce > 0n)
              work(nonce, { checkpoint, read: () => void getBlock(store.blocks, blockCid(utf8('late'), CODEC_RAW)) })
            return { error: String(nonce) } as InvocResult
          },
        }),
    })
    const { post } = thread
    thread.post = (message) => {
      posted++
      post(message)
    }
    threads.push(thread)
    return thread
  }
  const host = new WorkerVmHost({ view: node.view, threads: most, timers, log: LOG, startThread })
  const first = host.callWithGas(numbered(0n, 7n), node.store.genesis(), OPTIONS)
  await endAll(1)
  await first
  posted = 0
  begun = []
  return host
}

/** Ends calls as they begin until `count` have begun and ended. */
async function endAll(count: number): Promise<void> {
  for (let i = 1; i <= count; i++) {
    await haveBegun(i)
    end()
  }
}

beforeEach(() => {
  node = devnetNode()
  threads = []
  timers = new HandTimers()
  posted = 0
  begun = []
  end = () => undefined
  onBegun = () => undefined
})

describe('estimates of transfers', () => {
  const ask = (host: WorkerVmHost, message: Message, signal?: AbortSignal): Promise<InvocResult> =>
    host.callWithGas(message, node.store.genesis(), OPTIONS, signal)

  it('are asked for behind each other, up to a bound, and answered each by its own', async () => {
    const host = await open()
    const asked = Array.from({ length: MANY }, (_, i) => ask(host, numbered(BigInt(i + 1))))
    await haveBegun(1)
    expect(posted).toBe(32)
    expect(host.load).toEqual({ waiting: MANY - 32, running: 32, threads: 1 })
    await endAll(MANY)
    expect((await Promise.all(asked)).map(({ error }) => error)).toEqual(asked.map((_, i) => String(i + 1)))
    expect(host.load).toEqual({ waiting: 0, running: 0, threads: 1 })
  })

  it('stand in one thread, which has the states that they build on, although there may be another', async () => {
    const host = await open(undefined, 2)
    const asked = [1n, 2n, 3n].map((nonce) => ask(host, numbered(nonce)))
    await endAll(3)
    expect((await Promise.all(asked)).map(({ error }) => error)).toEqual(['1', '2', '3'])
    expect(threads.length).toBe(1)
  })

  it.each([
    ['calls a method', numbered(2n, 7n), OPTIONS],
    ['is traced', numbered(2n), { ...OPTIONS, tracing: true }],
  ])('do not stand before or behind one that %s', async (_, long, options) => {
    const host = await open()
    const asked = [ask(host, numbered(1n)), host.callWithGas(long, node.store.genesis(), options)]
    await haveBegun(1)
    expect(posted).toBe(1)
    end()
    await haveBegun(2)
    asked.push(ask(host, numbered(3n)))
    expect(posted).toBe(2)
    end()
    await endAll(3)
    expect((await Promise.all(asked)).map(({ error }) => error)).toEqual(['1', '2', '3'])
  })

  it('whose caller goes leave the others theirs', async () => {
    const host = await open((_, { checkpoint }) => checkpoint())
    const cancel = new AbortController()
    const gone = ask(host, numbered(1n), cancel.signal)
    const stays = ask(host, numbered(2n))
    await haveBegun(1)
    cancel.abort()
    await expect(gone).rejects.toMatchObject({ code: 'CANCELLED' })
    for (let i = 0; i < 4; i++) timers.pass()
    await endAll(2)
    expect((await stays).error).toBe('2')
    expect(threads.map(({ isClosed }) => isClosed)).toEqual([false])
  })

  it('whose callers all go are given up, and what comes then is not', async () => {
    const host = await open((_, { checkpoint }) => checkpoint())
    const cancel = new AbortController()
    const gone = [1n, 2n, 3n].map((nonce) => ask(host, numbered(nonce), cancel.signal))
    await haveBegun(1)
    cancel.abort()
    for (const one of gone) await expect(one).rejects.toMatchObject({ code: 'CANCELLED' })
    const later = ask(host, numbered(4n))
    expect(posted).toBe(3)
    await endAll(4)
    expect((await later).error).toBe('4')
    expect(threads.map(({ isClosed }) => isClosed)).toEqual([false])
  })

  it('whose callers all go and that run on cost their thread, once', async () => {
    const host = await open()
    const cancel = new AbortController()
    const gone = [1n, 2n].map((nonce) => ask(host, numbered(nonce), cancel.signal))
    await haveBegun(1)
    cancel.abort()
    for (const one of gone) await expect(one).rejects.toMatchObject({ code: 'CANCELLED' })
    for (let i = 0; i < 4; i++) timers.pass()
    expect(threads.map(({ isClosed }) => isClosed)).toEqual([true])
    const later = ask(host, numbered(3n))
    await haveBegun(2)
    end()
    expect((await later).error).toBe('3')
    expect(threads.map(({ isClosed }) => isClosed)).toEqual([true, false])
  })

  it('that lack a block are asked for again behind the others', async () => {
    node.store.blocks.put(blockCid(utf8('late'), CODEC_RAW), utf8('late'))
    const host = await open((nonce, { read }) => (nonce === 1n ? read() : undefined))
    const asked = [1n, 2n, 3n].map((nonce) => ask(host, numbered(nonce)))
    await endAll(4)
    expect((await Promise.all(asked)).map(({ error }) => error)).toEqual(['1', '2', '3'])
    expect(begun).toEqual([1n, 2n, 3n, 1n])
  })

  it('all fail when their thread dies', async () => {
    const host = await open()
    const asked = [1n, 2n].map((nonce) => ask(host, numbered(nonce)))
    await haveBegun(1)
    threads[0]?.die(new Error('gone'))
    for (const one of asked) await expect(one).rejects.toMatchObject({ code: 'HOST_FAILED' })
  })
})
