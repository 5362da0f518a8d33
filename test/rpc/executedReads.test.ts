/** Reads that execute what nobody recorded take a place of those that execute, and only then: of a snapshot without receipts, say. */
import { describe, expect, test } from 'vitest'
import { COST_LIMITS } from '../../src/base/bounds.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { InPlace } from '../../src/base/steps.ts'
import { whenAborted } from '../../src/base/waiting.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { foundByPlace, NO_LOOKBACK_LIMIT } from '../../src/chain/searchMessage.ts'
import { URGENCY } from '../../src/chain/urgency.ts'
import { type TipsetState, urgentVm, type VmCall, vmHost } from '../../src/chain/vm.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { type Caller, RpcEngine } from '../../src/rpc/engine.ts'
import { chainMethods } from '../../src/rpc/methods/chain.ts'
import { ethReadMethods } from '../../src/rpc/methods/eth.ts'
import type { Outcome } from '../../src/rpc/outcome.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { JSON_CONTEXT, turn } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

const { perAddress, runningOfCaller, deadlineMs } = COST_LIMITS.execute
const EPOCHS = 8
/** An empty list of receipts: an AMT of the old layout, [height, count, [bitmap, links, values]]. */
const RECEIPTS = Uint8Array.of(0x83, 0, 0, 0x83, 0x41, 0, 0x80, 0x80)

/** A node whose chain has states and no receipts, and whose machine never ends. */
function node(limits = COST_LIMITS) {
  const blocks = new MemoryBlockstore()
  const parentStateRoot = putBlock(blocks, utf8('state'), CODEC_RAW)
  const parentMessageReceipts = blockCid(RECEIPTS)
  const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
  store.setGenesis({ ...header(undefined, 0, 0), parentStateRoot })
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    const block = { ...header(store.head(), epoch, 0), parentStateRoot, parentMessageReceipts }
    store.putHeader(block)
    store.setHead(createTipset([block]))
  }
  const view = new ChainView({ store, network: builtinNetwork('devnet'), beaconRound: () => 0 })
  /** What the machine executes, until nobody wants it any more. */
  const running: Tipset[] = []
  const ended: ((state: TipsetState) => void)[] = []
  const vm = new CachingVmHost(
    store,
    vmHost(({ tipset }: VmCall, signal) => {
      running.push(tipset)
      return new Promise((resolve, reject) => {
        ended.push(resolve)
        whenAborted(signal, () => {
          running.splice(running.indexOf(tipset), 1)
          reject(new ChainError('CANCELLED', 'Cannot execute: the request was cancelled'))
        })
      })
    }),
  )
  const time = new FakeTime()
  const queues = new CostQueues({ clock: time, timers: time }, limits)
  const none = {} as never
  const rows = [
    ...chainMethods({ view, vm, setHead: () => undefined }),
    ...ethReadMethods({
      ...{ view, vm, pool: none, gas: none, clientVersion: '' },
      findMessage: () => Promise.resolve(undefined),
    }),
  ]
  const engine = new RpcEngine({ table: createMethodTable(rows), json: JSON_CONTEXT, log: silentLog, queues })
  const ask = async (method: string, params: unknown[], name = 'a', signal = new AbortController().signal) => {
    const caller: Caller = {
      ...{ version: 'v1', permissions: new Set(['read']), signal, ended: signal, notify: undefined },
      name: { name, hasToken: false },
    }
    const request = { id: 1, method, params: params as never }
    const outcome = (await engine.dispatch(request, caller, undefined)) as Outcome & { text: string }
    return { kind: outcome.kind, ...(JSON.parse(outcome.text) as { result?: unknown; error?: { code: number } }) }
  }
  /** One of each epoch that was executed. */
  const reads = {
    EthGetBlockByNumber: (epoch: number) => [`0x${epoch.toString(16)}`, false],
    ChainGetParentReceipts: (epoch: number) => [
      { '/': String(store.tipsetByHeight(epoch + 1, store.head(), 'next').key[0]) },
    ],
  }
  const read = (name: keyof typeof reads, epoch: number, ...of: [string?, AbortSignal?]) =>
    ask(`Filecoin.${name}`, reads[name](epoch), ...of)
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await turn()
  }
  /** The machine's first run ends; the receipts are there. */
  const executed = async (): Promise<void> => {
    putBlock(blocks, RECEIPTS)
    ended[0]?.({ stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts })
    await settle()
  }
  return { blocks, view, vm, store, time, queues, running, executed, ask, read, settle }
}

describe.each(['EthGetBlockByNumber', 'ChainGetParentReceipts'] as const)('%s', (name) => {
  test('of one address as many execute as its bound, another finds a place; one too many is refused', async () => {
    const { read, running, settle, queues } = node()
    for (let i = 0; i < perAddress; i++) void read(name, 1 + (i % (EPOCHS - 2)))
    await settle()
    expect(queues.load('execute')).toEqual({ running: runningOfCaller, waiting: perAddress - runningOfCaller })
    expect(running).toHaveLength(runningOfCaller)
    void read(name, EPOCHS - 1, 'b')
    await settle()
    expect(running.map(({ height }) => height)).toEqual([1, 2, 3, EPOCHS - 1])
    expect(await read(name, 1)).toMatchObject({ kind: 'busy', error: { code: -32005 } })
  })

  test('who leaves frees the place, and the machine', async () => {
    const { read, running, settle } = node()
    const calls = Array.from({ length: runningOfCaller + 1 }, (_, i) => {
      const leaves = new AbortController()
      void read(name, 1 + i, 'a', leaves.signal)
      return leaves
    })
    await settle()
    expect(running.map(({ height }) => height)).toEqual([1, 2, 3])
    calls[0]?.abort()
    await settle()
    expect(running.map(({ height }) => height)).toEqual([2, 3, 4])
  })

  test('is ended at the deadline', async () => {
    const { read, running, settle, time } = node()
    const call = read(name, 1)
    await settle()
    expect(running).toHaveLength(1)
    await time.pass(deadlineMs)
    expect(await call).toMatchObject({ kind: 'answered', error: { code: -32016 } })
    await settle()
    expect(running).toEqual([])
  })
})

describe('no place is taken', () => {
  const NONE = { ...COST_LIMITS, execute: { ...COST_LIMITS.execute, perAddress: 0 } } as never

  test('where there are none, what would have to be executed is refused', async () => {
    const { read } = node(NONE)
    expect(await read('EthGetBlockByNumber', 1)).toMatchObject({ kind: 'busy' })
    expect(await read('ChainGetParentReceipts', 1)).toMatchObject({ kind: 'busy' })
  })

  test('for what is remembered, nor for what the node executes for itself', async () => {
    const { ask, vm, store, running, executed, settle } = node(NONE)
    const head = store.head()
    void urgentVm(vm, URGENCY.chain).executeTipset(head)
    await settle()
    // The state is no tree of accounts, which is told when the tipset has been executed.
    const balance = ask('Filecoin.EthGetBalance', [`0x${'00'.repeat(20)}`, 'pending'])
    await settle()
    expect(running).toHaveLength(1)
    await executed()
    expect(await balance).toMatchObject({ kind: 'answered' })
    expect(await ask('Filecoin.EthGetBalance', [`0x${'00'.repeat(20)}`, 'pending'])).toMatchObject({ kind: 'answered' })
    expect(running).toHaveLength(1)
  })

  test('for what is recorded', async () => {
    const { read, blocks } = node(NONE)
    putBlock(blocks, RECEIPTS)
    expect(await read('ChainGetParentReceipts', 1)).toMatchObject({ kind: 'answered', result: [] })
  })
})

test.each(['EthGetBlockByNumber', 'ChainGetParentReceipts'] as const)(
  '%s: who waited for a place and finds the tipset executed has it executed no more',
  async (name) => {
    const { read, running, executed, settle, queues } = node()
    const calls = Array.from({ length: runningOfCaller + 1 }, () => read(name, 1))
    await settle()
    expect(running).toHaveLength(1)
    await executed()
    expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(calls.map(() => 'answered'))
    expect(running).toHaveLength(1)
    expect(queues.load('execute')).toEqual({ running: 0, waiting: 0 })
  },
)

test('a search has the place of its caller for a receipt that has to be made again', async () => {
  const { view, vm, store, running, executed, settle } = node()
  const head = store.head()
  const cid = blockCid(utf8('message'), CODEC_RAW)
  const places = { ofCid: () => Promise.resolve({ tipset: head, position: 0 }) } as never
  const placed: string[] = []
  const execute: InPlace = (task) => {
    placed.push(`running ${running.length}`)
    return task(new AbortController().signal)
  }
  const search = foundByPlace(
    cid,
    head,
    { limit: NO_LOOKBACK_LIMIT, allowReplaced: false, execute },
    { view, vm, places },
  )
  const failure = search.catch((error: unknown) => error)
  await settle()
  expect([placed, running.map(({ height }) => height)]).toEqual([['running 0'], [EPOCHS - 1]])
  await executed()
  expect(await failure).toMatchObject({ code: 'NOT_FOUND' })
})
