/** Bounds of the machine's queue, its threads and what is kept of executions: each at the bound and one above. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import {
  CANCELLED_RUN_MS,
  LEAP_CACHE_BYTES,
  MAX_PRINTED_BYTES,
  MAX_SUPPLIED_RUNS,
  MAX_SUPPLY_BLOCKS,
  MAX_SUPPLY_BYTES,
  MAX_THREAD_BLOCK_BYTES,
  MAX_TRACE_CHARGES,
  MAX_WAITING_CALLS,
  MAX_WAITING_READS,
  SKIP_CACHE_BYTES,
  STATE_TREE_CACHE,
  TIPSET_STATE_CACHE,
} from '../../src/chain/limits.ts'
import { TipsetIndex } from '../../src/chain/tipsetIndex.ts'
import { URGENCY } from '../../src/chain/urgency.ts'
import { type InvocResult, urgentVm, type VmHost, vmHost } from '../../src/chain/vm.ts'
import { TRACE_CHARGE_BYTES } from '../../src/chain/weights.ts'
import { type Cid, CODEC_RAW, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { supplyBlocks } from '../../src/execution/blockSupply.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { SentNames } from '../../src/execution/sentNames.ts'
import { ThreadBlocks } from '../../src/execution/threadBlocks.ts'
import { TraceCache } from '../../src/execution/traceCache.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { createTipset, firstBlock, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { failure, LOG, message, ScriptedWorld, STATE } from './scriptedWorld.ts'

function cidOf(i: number): Cid {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return createCid(CODEC_RAW, HASH_BLAKE2B_256, digest)
}

describe('calls', () => {
  const never = (): Promise<never> => new Promise(() => undefined)

  it('that wait for a thread', async () => {
    const world = new ScriptedWorld()
    world.machine = () => ({ call: never })
    const host = world.open()
    const call = (): Promise<unknown> => failure(host.call(message(1), world.tipset))
    for (let i = 0; i <= MAX_WAITING_CALLS; i++) void call()
    expect(host.load).toMatchObject({ running: 1, waiting: MAX_WAITING_CALLS })
    expect(await call()).toMatchObject({ code: 'VM_BUSY' })
    host.close()
  })

  it('that wait for a thread: reads for themselves, what is not for callers without a bound', async () => {
    const world = new ScriptedWorld()
    world.machine = () => ({ executeTipset: never })
    const host = world.open()
    const read = (vm: VmHost): Promise<unknown> => failure(vm.executeTipset(world.tipset))
    for (let i = 0; i <= MAX_WAITING_READS; i++) void read(host)
    expect(host.load).toMatchObject({ running: 1, waiting: MAX_WAITING_READS })
    expect(await read(host)).toMatchObject({ code: 'VM_BUSY' })
    void failure(host.call(message(1), world.tipset))
    for (const level of [URGENCY.own, URGENCY.chain]) void read(urgentVm(host, level))
    expect(host.load).toMatchObject({ running: 2, waiting: MAX_WAITING_READS + 2 })
    host.close()
  })

  it('that nobody waits for cost their thread after a while', async () => {
    const world = new ScriptedWorld()
    world.machine = () => ({ call: never })
    const timers = new VirtualTime()
    const host = world.open({ timers })
    const cancel = new AbortController()
    void failure(host.call(message(1), world.tipset, cancel.signal))
    await timers.settle()
    cancel.abort()
    await timers.advance(CANCELLED_RUN_MS - 1)
    expect(world.threads.map(({ isClosed }) => isClosed)).toEqual([false])
    await timers.advance(1)
    expect(world.threads.map(({ isClosed }) => isClosed)).toEqual([true])
    host.close()
  })

  it('that lack a block each time they run', async () => {
    for (const [missing, code] of [
      // The last run lacks none; the first two lacked genesis and the tipset.
      [MAX_SUPPLIED_RUNS - 3, undefined],
      [MAX_SUPPLIED_RUNS - 2, 'NO_PROGRESS'],
    ] as const) {
      const world = new ScriptedWorld()
      for (let i = 0; i < missing; i++) world.store.blocks.put(cidOf(i), Uint8Array.of(1))
      let runs = 0
      world.machine = () => ({
        call: () => {
          if (runs++ < missing) throw new BlockMissing([cidOf(runs - 1)])
          return Promise.resolve({ error: 'done' } as InvocResult)
        },
      })
      const host = world.open()
      const called = await host.call(message(1), world.tipset).catch((error: unknown) => error)
      expect(called).toMatchObject(code === undefined ? { error: 'done' } : { code })
      host.close()
    }
  }, 60_000)
})

describe('blocks for a thread', () => {
  it('that go at once, by number', () => {
    for (const [count, sent] of [
      [MAX_SUPPLY_BLOCKS, MAX_SUPPLY_BLOCKS],
      [MAX_SUPPLY_BLOCKS + 1, MAX_SUPPLY_BLOCKS],
    ] as const) {
      const cids = Array.from({ length: count }, (_, i) => cidOf(i))
      const store = new MemoryBlockstore()
      for (const cid of cids) store.put(cid, Uint8Array.of(1))
      expect(supplyBlocks(store, cids, new SentNames())).toHaveLength(sent)
    }
  })

  it('that go at once, by bytes: the one that passes the bound is the last', () => {
    const count = 8
    for (const [bytes, sent] of [
      [MAX_SUPPLY_BYTES / count, count],
      [MAX_SUPPLY_BYTES / count - 1, count + 1],
    ] as const) {
      const cids = Array.from({ length: count + 2 }, (_, i) => cidOf(i))
      const store = new MemoryBlockstore()
      const data = new Uint8Array(bytes)
      for (const cid of cids) store.put(cid, data)
      expect(supplyBlocks(store, cids, new SentNames())).toHaveLength(sent)
    }
  })

  it('that it keeps', () => {
    const count = 16
    const blocks = new ThreadBlocks({ base: undefined, maxBytes: MAX_THREAD_BLOCK_BYTES })
    // The same bytes each time: what counts is what they would take.
    const data = new Uint8Array(MAX_THREAD_BLOCK_BYTES / count)
    for (let i = 0; i < count; i++) blocks.give(cidOf(i), data)
    expect(blocks.has(cidOf(0))).toBe(true)
    blocks.give(cidOf(count), data)
    expect(blocks.has(cidOf(0))).toBe(false)
    expect(blocks.has(cidOf(count))).toBe(true)
  })
})

describe('what is kept', () => {
  it('of executed tipsets', async () => {
    for (const [count, again] of [
      [TIPSET_STATE_CACHE, 0],
      [TIPSET_STATE_CACHE + 1, 1],
    ] as const) {
      const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: LOG })
      store.setGenesis(header(undefined, 0, 0))
      let executed = 0
      const host = new CachingVmHost(
        store,
        vmHost(() => {
          executed++
          return Promise.resolve(STATE)
        }),
      )
      const tipsets = Array.from({ length: count }, (_, salt) => createTipset([header(store.genesis(), 1, salt)]))
      for (const tipset of tipsets) await host.tipsetState(tipset)
      expect([executed, [...host.cachedRoots()].length]).toEqual([count, 2 * TIPSET_STATE_CACHE])
      await host.tipsetState(tipsets[0] as Tipset)
      expect(executed - count).toBe(again)
    }
  })

  it('of traces, by their charges', () => {
    // A tipset and a call count for eight each beside their charges.
    const traceOf = (charges: number, bytes = 0): { root: Cid; trace: InvocResult[] } => {
      const data = { msg: { params: { length: bytes } }, msgRct: { return: { length: bytes } } }
      const executionTrace = { ...data, gasCharges: { length: charges - 16 }, ipldOps: [], subcalls: [] }
      return { root: cidOf(1), trace: [{ executionTrace } as unknown as InvocResult] }
    }
    const traces = new TraceCache(MAX_TRACE_CHARGES)
    traces.set('a', traceOf(MAX_TRACE_CHARGES - 20))
    traces.set('b', traceOf(20))
    expect([traces.get('a') !== undefined, traces.get('b') !== undefined]).toEqual([true, true])
    traces.set('b', traceOf(21))
    expect([traces.get('a') !== undefined, traces.get('b') !== undefined]).toEqual([false, true])
    // Parameters and what was returned count as many charges would that take as much.
    traces.set('b', traceOf(16, (4 * TRACE_CHARGE_BYTES) / 2))
    traces.set('a', traceOf(MAX_TRACE_CHARGES - 20))
    expect([traces.get('a') !== undefined, traces.get('b') !== undefined]).toEqual([true, true])
    traces.set('b', traceOf(16, (5 * TRACE_CHARGE_BYTES) / 2))
    expect([traces.get('a') !== undefined, traces.get('b') !== undefined]).toEqual([false, true])
    traces.set('too large', traceOf(MAX_TRACE_CHARGES + 1))
    expect([traces.get('too large'), traces.get('b') !== undefined]).toEqual([undefined, true])
  })

  it('of printed computations', async () => {
    const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: LOG })
    store.setGenesis(header(undefined, 0, 0))
    const [first, second, large] = [1, 2, 3].map((salt) => createTipset([header(store.genesis(), 1, salt)]))
    const sizes = new Map([
      [first, MAX_PRINTED_BYTES - 20],
      [second, 20],
      [large, MAX_PRINTED_BYTES + 1],
    ])
    let printed: unknown[] = []
    const inner = vmHost(async ({ tipset }) => {
      printed.push(tipset)
      return { root: tipset.key[0] as Cid, results: [{ length: sizes.get(tipset) } as Uint8Array] }
    })
    const host = new CachingVmHost(store, inner)
    const ask = (tipset: Tipset | undefined) => host.computeForText(tipset as Tipset, 1, [])
    for (const tipset of [first, second, large, first, second]) await ask(tipset)
    expect(printed).toEqual([first, second, large])
    sizes.set(second, 21)
    printed = []
    const other = new CachingVmHost(store, inner)
    for (const tipset of [first, second]) await other.computeForText(tipset as Tipset, 1, [])
    for (const tipset of [second, first]) await other.computeForText(tipset as Tipset, 1, [])
    expect(printed).toEqual([first, second, first])
  })

  it('of state trees', () => {
    for (const [count, isKept] of [
      [STATE_TREE_CACHE, true],
      [STATE_TREE_CACHE + 1, false],
    ] as const) {
      const blocks = new MemoryBlockstore()
      const store = new ChainStore({ blocks, meta: new MemoryStore(), log: LOG })
      store.setGenesis(header(undefined, 0, 0))
      const view = new ChainView({ store, network: builtinNetwork('devnet'), beaconRound: () => 0 })
      const roots = Array.from({ length: count }, (_, i) => {
        const tree = StateTree.create(blocks, 5)
        const link = cidOf(i)
        tree.setActor(1n, { code: link, head: link, nonce: BigInt(i), balance: 0n, delegatedAddress: null })
        return tree.flush()
      })
      const trees = roots.map((root) => view.stateTree(root))
      expect(view.stateTree(roots[0] as Cid) === trees[0]).toBe(isKept)
    }
  })

  it.each([
    ['twenty epochs', 20, 0, { skipBytes: SKIP_CACHE_BYTES, leapBytes: 0 }, SKIP_CACHE_BYTES],
    // Over the last stretch no leap is needed.
    ['1,280 epochs', 1280, 1, { skipBytes: 0, leapBytes: LEAP_CACHE_BYTES }, LEAP_CACHE_BYTES],
  ])(
    'of tipsets by height: pointers over %s',
    (_, span, more, kept, bound) => {
      const textBytes = tipsetKeyText(createTipset([header(undefined, 0, 0)]).key).length
      const most = Math.floor(bound / (150 + 2 * textBytes)) + more
      for (const [pointers, isKept] of [
        [most, true],
        [most + 1, false],
      ] as const) {
        const byText = new Map<string, Tipset>()
        let at = createTipset([header(undefined, 0, 0)])
        for (let i = 0; ; i++) {
          byText.set(tipsetKeyText(at.key), at)
          if (i === pointers) break
          at = createTipset([header(at, at.height + span, 0)])
        }
        let walked = 0
        const load = (key: Tipset['key']): Tipset => byText.get(tipsetKeyText(key)) as Tipset
        const parent = (tipset: Tipset): Tipset => {
          walked++
          return load(firstBlock(tipset).parents)
        }
        const index = new TipsetIndex(parent, load, kept)
        expect(finish(index.atOrAfter(at, 0)).height).toBe(0)
        const before = walked
        expect(finish(index.atOrAfter(at, 0)).height).toBe(0)
        expect(walked === before).toBe(isKept)
      }
    },
    60_000,
  )
})
