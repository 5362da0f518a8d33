/** Whose execution comes first: the chain's, then what the node sends, then callers'. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ChainError } from '../../src/chain/errors.ts'
import { URGENCY } from '../../src/chain/urgency.ts'
import { type CallOptions, type InvocResult, urgentVm, type VmHost } from '../../src/chain/vm.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { ExecutionTimes } from '../../src/execution/executionTimes.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { message, ScriptedWorld, STATE } from './scriptedWorld.ts'

const SEND: CallOptions = { priorMessages: [], tipsetMessages: 'all', skipSenderValidation: false, tracing: false }

let world: ScriptedWorld
/** Heights of executed tipsets and methods of calls, as they began. */
let order: (number | bigint)[]
let gates: (() => void)[]

const turns = async (): Promise<void> => {
  for (let i = 0; i < 300; i++) await Promise.resolve()
}

/** Ends what runs, one after the other, until nothing does. */
async function runAll(): Promise<void> {
  for (await turns(); gates.length > 0; await turns()) gates.shift()?.()
}

beforeEach(() => {
  world = new ScriptedWorld()
  order = []
  gates = []
  const gated = <T>(name: number | bigint, result: T): Promise<T> => {
    order.push(name)
    return new Promise((resolve) => gates.push(() => resolve(result)))
  }
  world.machine = () => ({
    executeTipset: ({ height }) => gated(height, STATE),
    call: ({ method }) => gated(method, { error: '' } as InvocResult),
    callWithGas: ({ method }) => gated(method, { error: '' } as InvocResult),
  })
})

/** Tipsets on the world's one, the last of them the head. */
function grow(length: number): Tipset[] {
  const chain = [world.tipset]
  while (chain.length < length) {
    const block = header(chain.at(-1), chain.length + 1, 0)
    world.store.putHeader(block)
    chain.push(createTipset([block]))
  }
  world.store.setHead(chain.at(-1) as Tipset)
  return chain
}

/** As a node has it: watched, and with a memory. */
function nodeVm(inner: VmHost): VmHost {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  return new CachingVmHost(world.store, new ExecutionTimes(clock).watch(inner))
}

describe('the chain', () => {
  it('waits for no row of reads of old states', async () => {
    const chain = grow(301)
    const vm = nodeVm(world.open())
    const refused: string[] = []
    for (const tipset of chain.slice(0, 300)) vm.tipsetState(tipset).catch(({ code }: ChainError) => refused.push(code))
    await turns()
    const own = urgentVm(vm, URGENCY.chain).tipsetState(chain.at(-1) as Tipset)
    await turns()
    expect(order.indexOf(301)).toBeGreaterThanOrEqual(0)
    expect(order.indexOf(301)).toBeLessThan(3)
    await runAll()
    expect(await own).toEqual(STATE)
    // The others of its kind are refused, not kept for minutes.
    expect(new Set(refused)).toEqual(new Set(['VM_BUSY']))
    expect(order.length + refused.length).toBe(301)
  })

  it('takes over what a caller had asked, which is executed once', async () => {
    const [first, second] = grow(3) as [Tipset, Tipset]
    const host = world.open()
    const vm = nodeVm(host)
    const other = vm.tipsetState(first)
    const asked = vm.tipsetState(second)
    await turns()
    expect([order, host.load.waiting]).toEqual([[1], 1])
    const own = urgentVm(vm, URGENCY.chain).tipsetState(second)
    await turns()
    expect([order, host.load.waiting]).toEqual([[1, 2], 0])
    await runAll()
    expect(await Promise.all([other, asked, own])).toEqual([STATE, STATE, STATE])
    expect(order).toEqual([1, 2])
  })
})

describe('what the node sends', () => {
  it('is tried though a call never ends, and behind it as many wait as may', async () => {
    const host = world.open({ maxWaiting: 2 })
    const calls = [1n, 2n, 3n].map((method) => host.call({ ...message(1), method }, world.tipset).catch(() => 0))
    await turns()
    const send = urgentVm(host, URGENCY.own).callWithGas({ ...message(1), method: 9n }, world.tipset, SEND)
    await turns()
    expect(order).toEqual([1n, 9n])
    gates.pop()?.()
    expect((await send).error).toBe('')
    host.close()
    await Promise.all(calls)
  })

  it('goes before callers and behind the chain', async () => {
    const [, second] = grow(3) as [Tipset, Tipset]
    const host = world.open()
    const call = (vm: VmHost, method: bigint) => vm.call({ ...message(1), method }, world.tipset)
    const own = urgentVm(host, URGENCY.own)
    const all = [call(own, 1n), call(own, 2n), call(host, 3n), call(own, 4n)]
    const chain = urgentVm(host, URGENCY.chain).executeTipset(second)
    await runAll()
    await Promise.all([...all, chain])
    expect(order).toEqual([1n, 2n, 2, 4n, 3n])
  })
})

it('reads and calls take turns, so that neither kind waits for all of the other', async () => {
  const chain = grow(6)
  const host = world.open()
  const reads = chain.slice(0, 5).map((tipset) => host.executeTipset(tipset))
  const calls = [10n, 11n].map((method) => host.call({ ...message(1), method }, world.tipset))
  await runAll()
  await Promise.all([...reads, ...calls])
  expect(order).toEqual([1, 10n, 2, 11n, 3, 4, 5])
})
