/** Bounds that servers of several threads share: each looks at what all have under way. Here the threads are views of the same cells. */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { Connections } from '../../../platform/server/connections.ts'
import { SharedCounts } from '../../../platform/server/readers/sharedCounts.ts'
import { UnreadAnswers } from '../../../platform/server/unreadAnswers.ts'
import { COST_LIMITS } from '../../../src/base/bounds.ts'
import { type CallerName, CostQueues } from '../../../src/rpc/cost.ts'

const ports = { clock: systemClock, timers: systemTimers }
const { running, runningOfCaller, runningWithoutToken, waiting, perAddress, perToken } = COST_LIMITS.scan

/** The node's view, and those of threads. */
function open(threads: number): [SharedCounts, ...SharedCounts[]] {
  const node = SharedCounts.create()
  const others = Array.from({ length: threads }, (_, i) => {
    node.opened()
    return new SharedCounts(node.cells, i + 1)
  })
  return [node, ...others]
}

function queuesOf(counts: SharedCounts): CostQueues {
  return new CostQueues(ports, COST_LIMITS, (cost) => counts.calls(cost))
}

/** Calls that end when they are told to. */
class Calls {
  readonly #ends: (() => void)[] = []
  #isOver = false
  refused = 0
  readonly #done: Promise<unknown>[] = []

  ask(queues: CostQueues, caller: CallerName): void {
    const { signal } = new AbortController()
    const call = async (): Promise<void> =>
      queues.run('scan', caller, signal, async () => {
        if (!this.#isOver) await new Promise<void>((end) => this.#ends.push(end))
      })
    this.#done.push(call().catch(() => this.refused++))
  }

  /** Those that run end, and those that wait as soon as they begin. */
  async end(): Promise<void> {
    this.#isOver = true
    for (const end of this.#ends) end()
    await Promise.all(this.#done)
  }
}

/** As a socket, as far as its connection goes. */
function socket(): Socket {
  const made = new EventEmitter() as Socket
  made.destroy = () => {
    made.emit('close')
    return made
  }
  made.setTimeout = () => made
  return made
}

describe('bounds that threads share', () => {
  it('are those of one caller, whichever of them it asks', async () => {
    const [one, two] = open(1).map(queuesOf) as [CostQueues, CostQueues]
    for (const [caller, most] of [
      [{ name: '192.0.2.7', hasToken: false }, perAddress],
      [{ name: 'a token', hasToken: true }, perToken],
    ] as const) {
      const calls = new Calls()
      for (let i = 0; i < most; i++) calls.ask(i % 3 === 0 ? one : two, caller)
      await turn()
      expect(calls.refused).toBe(0)
      calls.ask(one, caller)
      calls.ask(two, caller)
      await turn()
      expect(calls.refused).toBe(2)
      await calls.end()
      const again = new Calls()
      again.ask(two, caller)
      await again.end()
      expect(again.refused).toBe(0)
    }
  })

  it('are those of all calls: so many run, so many wait, and each thread comes to its turn', async () => {
    const counts = open(2)
    const queues = counts.map(queuesOf) as [CostQueues, CostQueues, CostQueues]
    const calls = new Calls()
    let name = 0
    const fill = async (into: CostQueues, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) calls.ask(into, { name: `address ${name++ >> 1}`, hasToken: true })
      await turn()
    }
    await fill(queues[0], 20)
    // A place for the first call of each of the others is kept.
    expect(queues[0].load('scan').running).toBe(running - 2)
    await fill(queues[1], 5)
    await fill(queues[2], 5)
    const loads = (): number => queues.reduce((sum, one) => sum + one.load('scan').running, 0)
    expect(queues.map((one) => one.load('scan').running)).toEqual([running - 2, 1, 1])
    await fill(queues[1], waiting)
    const waits = queues.reduce((sum, one) => sum + one.load('scan').waiting, 0)
    expect(waits).toBe(waiting)
    expect(calls.refused).toBeGreaterThan(0)
    expect(loads()).toBeLessThanOrEqual(running)
    await calls.end()
    expect(loads()).toBe(0)
  })

  it('are those of what runs for one caller, and for all without a token', async () => {
    const [one, two] = open(1).map(queuesOf) as [CostQueues, CostQueues]
    const runs = (): number => one.load('scan').running + two.load('scan').running
    const calls = new Calls()
    const ask = async (name: string, hasToken = false): Promise<void> => {
      for (let i = 0; i < running; i++) calls.ask(i % 2 === 0 ? one : two, { name, hasToken })
      await turn()
    }
    await ask('192.0.2.7')
    expect(runs()).toBe(runningOfCaller)
    for (const name of ['192.0.2.8', '192.0.2.9']) await ask(name)
    expect(runs()).toBe(runningWithoutToken)
    await ask('a token', true)
    expect(runs()).toBe(running)
    await calls.end()
    expect(runs()).toBe(0)
  })

  it('count what each thread has refused, also of one that has died, and beyond what a cell holds with a sign', async () => {
    const [node, thread] = open(1) as [SharedCounts, SharedCounts]
    const refused = (): number | undefined => node.calls('scan')?.refused.total()
    const caller = { name: '192.0.2.7', hasToken: false }
    const calls = new Calls()
    for (let i = 0; i < perAddress; i++) calls.ask(queuesOf(node), caller)
    expect(refused()).toBe(0)
    calls.ask(queuesOf(node), caller)
    for (let i = 0; i < 2; i++) calls.ask(queuesOf(thread), caller)
    expect(refused()).toBe(3)
    node.closed(1)
    expect(refused()).toBe(3)
    expect(node.calls('execute')?.refused.total()).toBe(0)
    await calls.end()
    for (let i = 0; i < 2; i++) node.calls('scan')?.refused.add(2 ** 30)
    expect(refused()).toBe(3 + 2 ** 31)
  })

  it('are those of connections: the longest idle of the thread goes, else the new one', () => {
    const bounds = { most: 4, firstMs: 50, idleMs: 1000, requestMs: 100 }
    const [one, two] = open(1).map((counts) => new Connections(() => 0, bounds, counts.of('connections'))) as [
      Connections,
      Connections,
    ]
    const sockets = Array.from({ length: 4 }, socket)
    for (const each of sockets.slice(0, 3)) one.add(each)
    two.add(sockets[3] as Socket)
    const late = socket()
    one.add(late)
    expect(one.admits(late)).toBe(false)
    two.is('idle', sockets[3] as Socket)
    const later = socket()
    two.add(later)
    expect(two.admits(later)).toBe(true)
    expect([one.size, two.size]).toEqual([3, 1])
    sockets[0]?.destroy()
    const last = socket()
    two.add(last)
    expect(two.admits(last)).toBe(true)
  })

  it('are those of what clients leave unread', () => {
    const [one, two] = open(1).map((counts) => new UnreadAnswers(1_000_000, counts.of('unread'))) as [
      UnreadAnswers,
      UnreadAnswers,
    ]
    const ended: string[] = []
    const client = (name: string): { destroy(): void } => ({ destroy: () => void ended.push(name) })
    one.set(client('a'), 400_000)
    two.set(client('b'), 400_000)
    two.set(client('c'), 200_000)
    expect(ended).toEqual([])
    one.set(client('d'), 100_000)
    expect(ended).toEqual(['a'])
  })

  it('forget what a thread had that has died', () => {
    const [node, thread] = open(1) as [SharedCounts, SharedCounts]
    const connections = node.of('connections')
    connections.add(2)
    thread.of('connections').add(5)
    thread.calls('scan')?.ofCaller('somebody').add(3)
    expect(connections.total()).toBe(7)
    node.closed(1)
    expect(connections.total()).toBe(2)
    expect(node.calls('scan')?.ofCaller('somebody').total()).toBe(0)
    expect(node.calls('scan')?.idle()).toBe(0)
  })
})
