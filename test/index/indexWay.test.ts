/** Where an index goes when the chain has left the tipset at which it stands, or with which it began. */
import { expect, test } from 'vitest'
import type { Clock, Timers } from '../../src/base/ports.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { VmHost } from '../../src/chain/vm.ts'
import { IndexError } from '../../src/index/errors.ts'
import { TIPSETS_AT_ONCE } from '../../src/index/limits.ts'
import { tipsetName } from '../../src/index/tipsetRows.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'
import { MemoryIndex, standsAtHead, startedWriter, stateOf, until } from './memoryIndex.ts'
import { finalAt, timers } from './writers.ts'

async function chainOf(tipsets: number): Promise<Exchange> {
  const exchange = await exchangeChain()
  for (let i = 0; i < tipsets; i++) await exchange.mine()
  return exchange
}

/** Every address and balance of the state is in it, each address once. */
function expectWhole(index: MemoryIndex, { node }: Exchange): void {
  const { addresses, balances } = stateOf(node)
  expect(index.addresses).toEqual(addresses)
  expect(index.balances).toEqual(balances)
}

test('a reorganisation that goes below its first tipset lets it begin anew, with all addresses and balances', async () => {
  const exchange = await chainOf(5)
  const { store, devnet } = exchange.node
  const index = new MemoryIndex()
  const writer = startedWriter(exchange.node, index)
  await standsAtHead(exchange.node, index)
  const began = index.heights
  expect(began).toHaveLength(1)
  const left = store.head()
  await devnet.mine(0, { fork: 3 })
  await standsAtHead(exchange.node, index)
  expectWhole(index, exchange)
  expect(Math.min(...index.heights)).toBeGreaterThanOrEqual(began[0] as number)
  await exchange.mine()
  await exchange.mine()
  await standsAtHead(exchange.node, index)
  expectWhole(index, exchange)
  // And back, to tipsets that it had; the nonces of this branch are those of its own state.
  store.setHead(left)
  await standsAtHead(exchange.node, index)
  expectWhole(index, exchange)
  await writer.stop()
})

test('of a long reorganisation no more than two parts are made before they are written', async () => {
  const exchange = await chainOf(1)
  const fork = 3 * TIPSETS_AT_ONCE
  const { devnet, store, view, vm } = exchange.node
  await devnet.mine(fork + 1)
  const executed = new Set<number>()
  class Watched extends VmHost {
    run(...[call, signal]: Parameters<VmHost['run']>): ReturnType<VmHost['run']> {
      executed.add(call.tipset.height)
      return vm.run(call, signal)
    }
  }
  const ahead: number[] = []
  const index = new MemoryIndex(() => ahead.push(executed.size - ahead.length))
  const writer = startedWriter({ view, vm: new Watched() }, index, { from: 0 })
  await standsAtHead(exchange.node, index)
  ahead.length = 0
  executed.clear()
  await devnet.mine(0, { fork })
  await standsAtHead(exchange.node, index)
  expect(ahead.length).toBeGreaterThan(fork - 2)
  expect(Math.max(...ahead)).toBeLessThanOrEqual(2 * TIPSETS_AT_ONCE)
  expect(index.heights.at(-1)).toBe(store.parent(store.head()).height)
  expectWhole(index, exchange)
  await writer.stop()
})

test('an index that begins anew does so up to where it had stood, at once', async () => {
  const exchange = await chainOf(7)
  const { store, devnet } = exchange.node
  const { height } = store.head()
  const index = new MemoryIndex()
  const writer = startedWriter(exchange.node, index, { from: height - 4 })
  await standsAtHead(exchange.node, index)
  const before = index.stood.length
  await devnet.mine(0, { fork: 6 })
  await exchange.mine()
  await standsAtHead(exchange.node, index)
  expect(Math.min(...index.stood.slice(before))).toBeGreaterThanOrEqual(height - 1)
  expect(index.heights[0]).toBeLessThan(height - 1)
  expectWhole(index, exchange)
  await writer.stop()
})

test('it begins anew also with a tipset that it has as one of others', async () => {
  const exchange = await chainOf(6)
  const { store, devnet } = exchange.node
  const index = new MemoryIndex()
  const head = store.head()
  const writer = startedWriter(exchange.node, index, { from: head.height - 2 })
  await standsAtHead(exchange.node, index)
  expect(index.heights).toEqual([head.height - 2, head.height - 1])
  // The other branch has no tipset where the index began, but one in the epoch above.
  await devnet.mine(0, { fork: 4 })
  while (store.head().height <= head.height + 1) await exchange.mine()
  await standsAtHead(exchange.node, index)
  const anew = index.heights[0] as number
  expectWhole(index, exchange)
  store.setHead(head)
  await standsAtHead(exchange.node, index)
  expect(index.heights[0]).toBeGreaterThanOrEqual(Math.min(anew, head.height - 1))
  expectWhole(index, exchange)
  await writer.stop()
})

/** Two nodes of one chain; the first one's newest tipsets are its own. */
async function twoNodes(): Promise<{ first: Exchange; second: Exchange }> {
  const [first, second] = await Promise.all([chainOf(4), chainOf(4)])
  expect(second.node.store.head().key.join()).toBe(first.node.store.head().key.join())
  await first.mine()
  await first.mine()
  return { first, second }
}

/** The other branch, higher than the first one's. */
async function overtake({ first, second }: { first: Exchange; second: Exchange }): Promise<void> {
  await second.mine({ nullRounds: 1 })
  while (second.node.store.head().height <= first.node.store.head().height) await second.mine()
}

/** An index that the first node wrote to its head. @param from - where it begins; undefined: at the head */
async function written({ node }: Exchange, from: number | undefined, final?: Tipset): Promise<MemoryIndex> {
  const index = new MemoryIndex()
  const writer = startedWriter(
    node,
    index,
    { from },
    finalAt(() => final ?? node.store.genesis()),
  )
  await standsAtHead(node, index)
  await writer.stop()
  return index
}

test.each([
  ['goes back to what both have', 0],
  ['begins anew where both have nothing in common', undefined],
])('a writer that never had the tipset at which it stands %s', async (_what, from) => {
  const nodes = await twoNodes()
  const index = await written(nodes.first, from)
  const orphan = index.position?.tipset as string
  await overtake(nodes)
  const { second } = nodes
  const writer = startedWriter(second.node, index, { from })
  await standsAtHead(second.node, index)
  expect(index.tipsets.get(orphan)?.isCanonical ?? false).toBe(false)
  expectWhole(index, second)
  await writer.stop()
})

/** Codes of what keeps a writer, until it was told so many times. */
async function refused({ node }: Exchange, index: MemoryIndex, times = 2): Promise<unknown[]> {
  const codes: unknown[] = []
  const onFailure = (error: unknown): void => void codes.push(error instanceof IndexError ? error.code : error)
  const writer = startedWriter(node, index, { from: 0, onFailure })
  await until(() => codes.length >= times)
  await writer.stop()
  return codes
}

test('it does not go back for a writer that is behind, nor below what is final', async () => {
  const nodes = await twoNodes()
  const { first, second } = nodes
  const index = await written(first, 0)
  const stood = index.heights
  expect(new Set(await refused(second, index))).toEqual(new Set(['POSITION_UNKNOWN']))
  expect(index.heights).toEqual(stood)
  const final = await written(first, 0, first.node.store.head())
  await overtake(nodes)
  expect(new Set(await refused(second, final))).toEqual(new Set(['POSITION_UNKNOWN']))
  expect(final.heights).toEqual(stood)
})

test('a head that stepped back on its own chain, or that is behind, reverts nothing', async () => {
  const exchange = await chainOf(4)
  const { store } = exchange.node
  const index = await written(exchange, 0)
  const stood = index.heights
  const head = store.head()
  store.setHead(store.parent(store.parent(head)))
  const writer = startedWriter(exchange.node, index, { from: 0 })
  await until(() => writer.status.state === 'following')
  store.setHead(store.parent(head))
  await exchange.mine({ nullRounds: 3 })
  await standsAtHead(exchange.node, index)
  // The newest one alone has gone.
  expect(index.heights).toEqual(stood)
  expect([...index.tipsets.keys()]).toContain(tipsetName(store.parent(store.head())))
  await writer.stop()
})

test('a machine that is busy keeps rows of an earlier Petrel waiting, and leaves none of them out', async () => {
  const exchange = await chainOf(4)
  const { vm, view, store } = exchange.node
  const lacking = store.tipsetByHeight(2, undefined, 'next')
  const index = await written(exchange, 0)
  index.lacking = [{ height: lacking.height, key: lacking.key.map(String) }]
  let busy = 0
  class BusyOnce extends VmHost {
    async run(...[call, signal]: Parameters<VmHost['run']>): ReturnType<VmHost['run']> {
      if (call.tipset.height === lacking.height && busy++ === 0) throw new ChainError('VM_BUSY', 'Cannot execute now')
      return vm.run(call, signal)
    }
  }
  const failures: unknown[] = []
  const onFailure = (error: unknown): void => void failures.push(error)
  const writer = startedWriter({ view, vm: new BusyOnce() }, index, { from: 0, onFailure })
  await until(() => busy > 0)
  await exchange.mine()
  await until(() => index.completed.length > 0)
  expect(index.completed).toEqual([lacking.height])
  await standsAtHead(exchange.node, index)
  expect(failures).toEqual([])
  await writer.stop()
})

test('a walk far down the chain gives others their turn', async () => {
  const exchange = await chainOf(1)
  await exchange.node.devnet.mine(60)
  const index = new MemoryIndex()
  // Each look at it is a turn later.
  let now = 0
  const clock: Clock = { nowMs: () => now, monotonicMs: () => (now += 10) }
  let turns = 0
  const counting: Timers = {
    setTimeout: (run, ms) => {
      if (ms === 0) turns++
      return timers.setTimeout(run, ms)
    },
  }
  const writer = startedWriter(exchange.node, index, { from: 0, clock, timers: counting })
  await until(() => index.position !== undefined)
  expect(turns).toBeGreaterThan(0)
  await standsAtHead(exchange.node, index)
  await writer.stop()
})
