/** Which calls run, wait, are refused or given up, over a pair of ports with a scripted machine behind. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ChainError } from '../../src/chain/errors.ts'
import { URGENCY } from '../../src/chain/urgency.ts'
import { type InvocResult, urgentVm } from '../../src/chain/vm.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { VmError } from '../../src/fvm/errors.ts'
import type { Message } from '../../src/types/message.ts'
import { failure, LOG, message, ScriptedWorld, STATE } from './scriptedWorld.ts'

let world: ScriptedWorld

beforeEach(() => {
  world = new ScriptedWorld()
})

describe('the queue', () => {
  /** A machine whose calls last until they are released; `started` resolves when the n-th one runs. */
  function slowMachine(): { release: () => void; started: (n: number) => Promise<void>; order: bigint[] } {
    const order: bigint[] = []
    const waiters: { n: number; resolve: () => void }[] = []
    let release: () => void = () => undefined
    world.machine = () => ({
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
  /** A call that is cancelled while it runs, and the one that waits behind it. */
  async function cancelRunning(): Promise<{
    host: WorkerVmHost
    slow: ReturnType<typeof slowMachine>
    second: Promise<InvocResult>
  }> {
    const slow = slowMachine()
    const host = world.open()
    const cancel = new AbortController()
    const first = failure(host.call(numbered(1), world.tipset, cancel.signal))
    const second = host.call(numbered(2), world.tipset)
    await slow.started(1)
    cancel.abort()
    expect(((await first) as ChainError).code).toBe('CANCELLED')
    return { host, slow, second }
  }

  it('runs one call per thread and refuses more than may wait', async () => {
    const slow = slowMachine()
    const host = world.open({ maxWaiting: 1 })
    const first = host.call(numbered(1), world.tipset)
    const second = host.call(numbered(2), world.tipset)
    await slow.started(1)
    expect(host.load).toEqual({ waiting: 1, running: 1, threads: 1 })
    expect(((await failure(host.call(numbered(3), world.tipset))) as ChainError).code).toBe('VM_BUSY')
    slow.release()
    expect((await first).error).toBe('1')
    await slow.started(2)
    slow.release()
    expect((await second).error).toBe('2')
    expect(slow.order).toEqual([1n, 2n])
    expect(world.threads.length).toBe(1)
  })

  it('ends a second thread that has nothing to do for long, and neither the first nor one that was asked again', async () => {
    const ends = new Map<bigint, () => void>()
    const begun: (() => void)[] = []
    world.machine = () => ({
      call: async ({ method }) => {
        await new Promise<void>((resolve) => {
          ends.set(method, resolve)
          for (const tell of begun.splice(0)) tell()
        })
        return { error: String(method) } as InvocResult
      },
    })
    const host = world.open({ threads: 2 })
    const run = async (...methods: number[]): Promise<void> => {
      const calls = methods.map((method) => host.call(numbered(method), world.tipset))
      while (!methods.every((method) => ends.has(BigInt(method))))
        await new Promise<void>((resolve) => void begun.push(resolve))
      for (const method of methods) ends.get(BigInt(method))?.()
      await Promise.all(calls)
    }
    await run(1, 2)
    expect(host.load.threads).toBe(2)
    const third = run(3)
    world.timers.pass()
    // The one that runs stays, the other goes.
    expect(host.load).toMatchObject({ running: 1, threads: 1 })
    await third
    world.timers.pass()
    expect(host.load.threads).toBe(1)
    await run(4, 5)
    expect(host.load.threads).toBe(2)
    expect(world.threads.length).toBe(3)
  })

  it('executes what the chain waits for at once, though callers keep every thread busy', async () => {
    const slow = slowMachine()
    const callers = world.machine
    world.machine = (own) => ({ ...callers(own), executeTipset: async () => STATE })
    const host = world.open({ maxWaiting: 2 })
    const calls = [
      host.call(numbered(1), world.tipset),
      host.call(numbered(2), world.tipset),
      host.call(numbered(3), world.tipset),
    ]
    await slow.started(1)
    const chain = urgentVm(host, URGENCY.chain)
    expect((await chain.executeTipset(world.tipset)).stateRoot.equals(STATE.stateRoot)).toBe(true)
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
    const host = world.open({ threads: 2 })
    const calls = [1, 2, 3].map((n) => failure(host.call(numbered(n), world.tipset)))
    await slow.started(2)
    expect(host.load).toEqual({ waiting: 1, running: 2, threads: 2 })
    host.close()
    expect((await Promise.all(calls)).map((error) => (error as ChainError).code)).toEqual(Array(3).fill('VM_CLOSED'))
    expect(world.threads.every(({ isClosed }) => isClosed)).toBe(true)
    expect(((await failure(host.call(numbered(4), world.tipset))) as ChainError).code).toBe('VM_CLOSED')
  })

  it('drops a waiting call that is cancelled', async () => {
    const slow = slowMachine()
    const host = world.open()
    const first = host.call(numbered(1), world.tipset)
    const cancel = new AbortController()
    const second = failure(host.call(numbered(2), world.tipset, cancel.signal))
    const third = host.call(numbered(3), world.tipset)
    cancel.abort()
    expect(((await second) as ChainError).code).toBe('CANCELLED')
    await slow.started(1)
    slow.release()
    await first
    await slow.started(2)
    slow.release()
    await third
    expect(slow.order).toEqual([1n, 3n])
    expect(world.threads.length).toBe(1)
    expect(((await failure(host.call(numbered(2), world.tipset, cancel.signal))) as ChainError).code).toBe('CANCELLED')
  })

  it('ends the thread of a running call that is cancelled, and goes on in a new one', async () => {
    const { slow, second } = await cancelRunning()
    expect(world.threads[0]?.isClosed).toBe(false)
    world.timers.pass()
    world.timers.pass()
    expect(world.threads[0]?.isClosed).toBe(true)
    await slow.started(2)
    slow.release()
    expect((await second).error).toBe('2')
    expect(world.threads.length).toBe(2)
  })

  it('keeps the thread of a cancelled call that ends in time', async () => {
    const { host, slow, second } = await cancelRunning()
    slow.release()
    await slow.started(2)
    world.timers.pass()
    world.timers.pass()
    slow.release()
    expect((await second).error).toBe('2')
    expect(world.threads.map(({ isClosed }) => isClosed)).toEqual([false])
    expect(host.load).toEqual({ waiting: 0, running: 0, threads: 1 })
  })

  it('fails the call of a thread that dies as undecided, and goes on in a new one', async () => {
    const slow = slowMachine()
    const host = world.open()
    const first = failure(host.call(numbered(1), world.tipset))
    await slow.started(1)
    world.threads[0]?.die(new Error('out of memory'))
    const error = await first
    expect(error).toBeInstanceOf(VmError)
    expect((error as VmError).code).toBe('HOST_FAILED')
    expect((error as VmError).message).toContain('out of memory')
    const second = host.call(numbered(2), world.tipset)
    await slow.started(2)
    slow.release()
    expect((await second).error).toBe('2')
  })

  it('fails a call that cannot be asked, and goes on', async () => {
    world.machine = () => ({ call: async () => ({ error: 'done' }) as InvocResult })
    const host = world.open()
    const unsendable = { ...message(1), params: (() => 1) as unknown as Uint8Array }
    expect(((await failure(host.call(unsendable, world.tipset))) as ChainError).code).toBe('NOT_SUPPORTED')
    expect((await host.call(message(1), world.tipset)).error).toBe('done')
    expect(world.threads.length).toBe(1)
  })

  it('fails a call whose thread cannot be started', async () => {
    const host = new WorkerVmHost({
      view: world.view,
      threads: 1,
      timers: world.timers,
      log: LOG,
      startThread: () => {
        throw new Error('no threads here')
      },
    })
    expect(((await failure(host.call(numbered(1), world.tipset))) as Error).message).toBe('no threads here')
    expect(host.load).toEqual({ waiting: 0, running: 0, threads: 0 })
  })
})
