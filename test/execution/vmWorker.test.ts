/** Both sides of the machine's thread over a pair of ports, with a scripted machine behind. */
import { beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { ChainError } from '../../src/chain/errors.ts'
import type { CallOptions, InvocResult, TipsetState, VmHost } from '../../src/chain/vm.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { VmError } from '../../src/fvm/errors.ts'
import { getBlock, MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { BlockMissing, IpldError } from '../../src/ipld/errors.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { idAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import { blsChainMessage, chainMessageCid } from '../../src/types/chainMessage.ts'
import type { Message } from '../../src/types/message.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { type FakeThread, HandTimers, machineOf, startFakeThread } from './threadPair.ts'

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const STATE: TipsetState = {
  stateRoot: blockCid(utf8('state'), CODEC_RAW),
  receiptsRoot: blockCid(utf8('receipts'), CODEC_RAW),
}

function message(to: number): Message {
  return {
    version: 0,
    to: idAddress(to),
    from: UNDEF_ADDRESS,
    nonce: 2n ** 64n - 1n,
    value: -5n,
    gasLimit: 0n,
    gasFeeCap: 0n,
    gasPremium: 0n,
    method: 7n,
    params: Uint8Array.of(1, 2, 3),
  }
}

let store: ChainStore
let view: ChainView
let tipset: Tipset
let threads: FakeThread[]
let timers: HandTimers
/** The machine of all threads. */
let machine: (store: ChainStore) => Partial<VmHost>

function open(options: { threads?: number; maxWaiting?: number } = {}): WorkerVmHost {
  return new WorkerVmHost({
    view,
    threads: 1,
    timers,
    log: LOG,
    ...options,
    startThread: () => {
      const thread = startFakeThread({ blocks: undefined, log: LOG, createHost: (own) => machineOf(machine(own)) })
      threads.push(thread)
      return thread
    },
  })
}

/** What a promise fails with. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'nothing',
    (error: unknown) => error,
  )
}

beforeEach(() => {
  threads = []
  timers = new HandTimers()
  const network = builtinNetwork('devnet')
  store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: LOG })
  const genesis = header(undefined, 0, 0)
  store.setGenesis(genesis)
  const next = header(createTipset([genesis]), 1, 0)
  store.putHeader(next)
  tipset = createTipset([next])
  view = new ChainView({ store, network, beaconRound: () => 0 })
})

describe('messages before a call', () => {
  const pending = [1000, 1001, 1002].map((to) => blsChainMessage({ ...message(to), from: idAddress(100) }))
  const options = (count: number): CallOptions => ({
    priorMessages: pending.slice(0, count),
    tipsetMessages: 'all',
    skipSenderValidation: false,
    tracing: true,
  })

  it('arrive in order, whatever of them the thread knows', async () => {
    const seen: (readonly string[])[] = []
    machine = () => ({
      callWithGas: async (_message, _tipset, { priorMessages }) => {
        seen.push(priorMessages.map((one) => String(chainMessageCid(one))))
        return { error: '' } as InvocResult
      },
    })
    const host = open()
    const names = pending.map((one) => String(chainMessageCid(one)))
    for (const count of [3, 3, 1, 0, 2]) await host.callWithGas(message(1), tipset, options(count))
    expect(seen).toEqual([names, names, names.slice(0, 1), [], names.slice(0, 2)])
    // A thread that follows one that died knows nothing.
    threads[0]?.die('gone')
    await host.callWithGas(message(1), tipset, options(2))
    expect(seen.at(-1)).toEqual(names.slice(0, 2))
  })
})

describe('calls', () => {
  it('arrive and answer with their classes, though the thread has no blocks', async () => {
    machine = (own) => ({
      call: async (one, at) => {
        expect(own.genesis().key[0]?.equals(store.genesis().key[0] as Cid)).toBe(true)
        expect(at.height).toBe(1)
        expect(one.from).toBe(UNDEF_ADDRESS)
        return { msg: one, msgCid: at.key[0], error: '' } as InvocResult
      },
    })
    const result = await open().call(message(1234), tipset)
    expect(result.msg).toEqual(message(1234))
    expect(result.msg.to.toString('t')).toBe('t01234')
    expect(result.msgCid.equals(tipset.key[0] as Cid)).toBe(true)
  })

  it('know the head that is not stored yet', async () => {
    machine = () => ({ executeTipset: async (at) => ({ ...STATE, stateRoot: at.key[0] as Cid }) })
    const unstored = createTipset([header(tipset, 2, 3), header(tipset, 2, 4)])
    expect((await open().executeTipset(unstored)).stateRoot.toString()).toBe(String(unstored.key[0]))
  })

  it('bring back what an execution wrote, once', async () => {
    let written: Cid | undefined
    machine = (own) => ({
      executeTipset: async () => {
        written = putBlock(own.blocks, utf8('new state'))
        return STATE
      },
      compute: async () => ({ root: written as Cid, trace: [] }),
    })
    const host = open()
    await host.executeTipset(tipset)
    expect(store.blocks.get(written as Cid)).toEqual(utf8('new state'))
    const { root } = await host.compute(tipset, 1, [])
    expect(root.equals(written as Cid)).toBe(true)
  })

  it('read the recorded state without a thread', async () => {
    machine = () => ({})
    expect((await open().tipsetState(store.genesis())).stateRoot).toBe(store.genesis().blocks[0]?.parentStateRoot)
    expect(threads).toEqual([])
  })
})

describe('missing blocks', () => {
  it('are sent with what they link to', async () => {
    const leaf = putBlock(store.blocks, utf8('leaf'), CODEC_RAW)
    const cbor = Uint8Array.from([0x81, 0xd8, 42, 0x58, leaf.bytes.length + 1, 0, ...leaf.bytes])
    const root = putBlock(store.blocks, cbor)
    let runs = 0
    machine = (own) => ({
      executeTipset: async () => {
        runs++
        getBlock(own.blocks, root)
        getBlock(own.blocks, leaf)
        return STATE
      },
    })
    await open().executeTipset(tipset)
    expect(runs).toBe(2)
  })

  it('that the chain lacks too are reported as such', async () => {
    const absent = blockCid(utf8('absent'))
    machine = (own) => ({
      replay: async () => ({ error: String(own.blocks.get(absent)) }) as InvocResult,
      executeTipset: async () => {
        getBlock(own.blocks, absent)
        return STATE
      },
    })
    const host = open()
    // Somebody who can do without it gets the answer "not there".
    expect((await host.replay(tipset, absent)).error).toBe('undefined')
    const error = await failure(host.executeTipset(tipset))
    expect(error).toBeInstanceOf(BlockMissing)
    expect((error as BlockMissing).cids.map(String)).toEqual([String(absent)])
    // It may have arrived since.
    putBlock(store.blocks, utf8('absent'))
    expect(await host.executeTipset(tipset)).toEqual(STATE)
  })
})

describe('failures', () => {
  const cases: [string, Error][] = [
    ['ChainError EXPENSIVE_FORK', new ChainError('EXPENSIVE_FORK', 'state fork', { epoch: 5 })],
    ['VmError HOST_STACK_EXHAUSTED', new VmError('HOST_STACK_EXHAUSTED', 'no stack left')],
    ['IpldError INVALID_HAMT', new IpldError('INVALID_HAMT', 'broken', { big: 3n, bytes: Uint8Array.of(1) })],
  ]
  for (const [name, thrown] of cases) {
    it(`keep class, code and data: ${name}`, async () => {
      machine = () => ({ call: () => Promise.reject(thrown) })
      const error = (await failure(open().call(message(1), tipset))) as typeof thrown
      expect(error).toBeInstanceOf(thrown.constructor)
      expect(error).toEqual(thrown)
      expect((error as ChainError).code).toBe((thrown as ChainError).code)
      expect((error as ChainError).info).toEqual((thrown as ChainError).info)
      expect(error.stack).toBe(thrown.stack)
    })
  }

  it('that are bugs leave the message undecided', async () => {
    machine = () => ({ call: () => Promise.reject(new TypeError('x is not a function')) })
    const error = await failure(open().call(message(1), tipset))
    expect(error).toBeInstanceOf(VmError)
    expect((error as VmError).code).toBe('HOST_FAILED')
    expect((error as VmError).message).toBe('x is not a function')
  })

  it('of an answer that cannot be sent are told', async () => {
    machine = () => ({ call: async () => ({ error: () => 'a function' }) as unknown as InvocResult })
    expect(((await failure(open().call(message(1), tipset))) as ChainError).code).toBe('NOT_SUPPORTED')
  })
})

describe('the queue', () => {
  /** A machine whose calls last until they are released; `started` resolves when the n-th one runs. */
  function slowMachine(): { release: () => void; started: (n: number) => Promise<void>; order: bigint[] } {
    const order: bigint[] = []
    const waiters: { n: number; resolve: () => void }[] = []
    let release: () => void = () => undefined
    machine = () => ({
      call: async (one) => {
        order.push(one.method)
        for (const waiter of waiters) if (waiter.n <= order.length) waiter.resolve()
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return { error: String(one.method) } as InvocResult
      },
    })
    const started = (n: number): Promise<void> =>
      new Promise((resolve) => {
        if (order.length >= n) resolve()
        else waiters.push({ n, resolve })
      })
    return { release: () => release(), started, order }
  }
  const numbered = (n: number): Message => ({ ...message(1), method: BigInt(n) })

  it('runs one call per thread and refuses more than may wait', async () => {
    const slow = slowMachine()
    const host = open({ maxWaiting: 1 })
    const first = host.call(numbered(1), tipset)
    const second = host.call(numbered(2), tipset)
    await slow.started(1)
    expect(host.load).toEqual({ waiting: 1, running: 1, threads: 1 })
    expect(((await failure(host.call(numbered(3), tipset))) as ChainError).code).toBe('VM_BUSY')
    slow.release()
    expect((await first).error).toBe('1')
    await slow.started(2)
    slow.release()
    expect((await second).error).toBe('2')
    expect(slow.order).toEqual([1n, 2n])
    expect(threads.length).toBe(1)
  })

  it('executes what the chain waits for at once, though callers keep every thread busy', async () => {
    const slow = slowMachine()
    const callers = machine
    machine = (own) => ({ ...callers(own), executeTipset: async () => STATE })
    const host = open({ maxWaiting: 2 })
    const calls = [host.call(numbered(1), tipset), host.call(numbered(2), tipset), host.call(numbered(3), tipset)]
    await slow.started(1)
    expect((await host.executeTipset(tipset)).stateRoot.equals(STATE.stateRoot)).toBe(true)
    expect(slow.order).toEqual([1n])
    expect(host.load).toEqual({ waiting: 2, running: 1, threads: 2 })
    for (const [i, call] of calls.entries()) {
      await slow.started(i + 1)
      slow.release()
      expect((await call).error).toBe(String(i + 1))
    }
  })

  it('starts as many threads as it may', async () => {
    const slow = slowMachine()
    const host = open({ threads: 2 })
    const calls = [1, 2, 3].map((n) => failure(host.call(numbered(n), tipset)))
    await slow.started(2)
    expect(host.load).toEqual({ waiting: 1, running: 2, threads: 2 })
    host.close()
    expect((await Promise.all(calls)).map((error) => (error as ChainError).code)).toEqual(Array(3).fill('VM_CLOSED'))
    expect(threads.every(({ isClosed }) => isClosed)).toBe(true)
    expect(((await failure(host.call(numbered(4), tipset))) as ChainError).code).toBe('VM_CLOSED')
  })

  it('drops a waiting call that is cancelled', async () => {
    const slow = slowMachine()
    const host = open()
    const first = host.call(numbered(1), tipset)
    const cancel = new AbortController()
    const second = failure(host.call(numbered(2), tipset, cancel.signal))
    const third = host.call(numbered(3), tipset)
    cancel.abort()
    expect(((await second) as ChainError).code).toBe('CANCELLED')
    await slow.started(1)
    slow.release()
    await first
    await slow.started(2)
    slow.release()
    await third
    expect(slow.order).toEqual([1n, 3n])
    expect(threads.length).toBe(1)
    expect(((await failure(host.call(numbered(2), tipset, cancel.signal))) as ChainError).code).toBe('CANCELLED')
  })

  it('ends the thread of a running call that is cancelled, and goes on in a new one', async () => {
    const slow = slowMachine()
    const host = open()
    const cancel = new AbortController()
    const first = failure(host.call(numbered(1), tipset, cancel.signal))
    const second = host.call(numbered(2), tipset)
    await slow.started(1)
    cancel.abort()
    expect(((await first) as ChainError).code).toBe('CANCELLED')
    expect(threads[0]?.isClosed).toBe(false)
    timers.pass()
    timers.pass()
    expect(threads[0]?.isClosed).toBe(true)
    await slow.started(2)
    slow.release()
    expect((await second).error).toBe('2')
    expect(threads.length).toBe(2)
  })

  it('keeps the thread of a cancelled call that ends in time', async () => {
    const slow = slowMachine()
    const host = open()
    const cancel = new AbortController()
    const first = failure(host.call(numbered(1), tipset, cancel.signal))
    const second = host.call(numbered(2), tipset)
    await slow.started(1)
    cancel.abort()
    expect(((await first) as ChainError).code).toBe('CANCELLED')
    slow.release()
    await slow.started(2)
    timers.pass()
    timers.pass()
    slow.release()
    expect((await second).error).toBe('2')
    expect(threads.map(({ isClosed }) => isClosed)).toEqual([false])
    expect(host.load).toEqual({ waiting: 0, running: 0, threads: 1 })
  })

  it('fails the call of a thread that dies as undecided, and goes on in a new one', async () => {
    const slow = slowMachine()
    const host = open()
    const first = failure(host.call(numbered(1), tipset))
    await slow.started(1)
    threads[0]?.die(new Error('out of memory'))
    const error = await first
    expect(error).toBeInstanceOf(VmError)
    expect((error as VmError).code).toBe('HOST_FAILED')
    expect((error as VmError).message).toContain('out of memory')
    const second = host.call(numbered(2), tipset)
    await slow.started(2)
    slow.release()
    expect((await second).error).toBe('2')
  })

  it('fails a call that cannot be asked, and goes on', async () => {
    machine = () => ({ call: async () => ({ error: 'done' }) as InvocResult })
    const host = open()
    const unsendable = { ...message(1), params: (() => 1) as unknown as Uint8Array }
    expect(((await failure(host.call(unsendable, tipset))) as ChainError).code).toBe('NOT_SUPPORTED')
    expect((await host.call(message(1), tipset)).error).toBe('done')
    expect(threads.length).toBe(1)
  })

  it('fails a call whose thread cannot be started', async () => {
    const host = new WorkerVmHost({
      view,
      threads: 1,
      timers,
      log: LOG,
      startThread: () => {
        throw new Error('no threads here')
      },
    })
    expect(((await failure(host.call(numbered(1), tipset))) as Error).message).toBe('no threads here')
    expect(host.load).toEqual({ waiting: 0, running: 0, threads: 0 })
  })
})
