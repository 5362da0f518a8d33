import { beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { type InvocResult, type TipsetState, type VmHost, type VmResult, vmHost } from '../../src/chain/vm.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { VmError } from '../../src/fvm/errors.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import type { Message } from '../../src/types/message.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const CHARGES = 100

const cidOf = (text: string): Cid => blockCid(utf8(text), CODEC_RAW)
const STATE: TipsetState = { stateRoot: cidOf('state'), receiptsRoot: cidOf('receipts') }

const NO_DATA = { params: new Uint8Array(0), return: new Uint8Array(0) }

function result(name: string): InvocResult {
  const gasCharges = Array.from({ length: CHARGES }, () => ({ name: 'x', compute: 1, storage: 0 }))
  return {
    msgCid: cidOf(name),
    executionTrace: { msg: NO_DATA, msgRct: NO_DATA, gasCharges, ipldOps: [], subcalls: [] },
  } as unknown as InvocResult
}

let store: ChainStore
let asked: string[]
let inner: VmHost
/** What adding to a remembered state fails for. */
let lost: Error | undefined
let tipsets: Tipset[]

beforeEach(() => {
  store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: LOG })
  store.setGenesis(header(undefined, 0, 0))
  tipsets = [1, 2, 3].map((salt) => createTipset([header(store.genesis(), 1, salt)]))
  asked = []
  lost = undefined
  inner = vmHost(async (call): Promise<VmResult> => {
    switch (call.method) {
      case 'executeTipset':
        asked.push('execute')
        return STATE
      case 'compute': {
        const { messages, onto, vmHeight } = call
        const added = messages.map(() => result('more'))
        if (onto !== undefined) {
          expect(onto).toBe(STATE.stateRoot)
          asked.push(`add ${messages.length} at ${vmHeight}`)
          if (lost !== undefined) throw lost
          return { root: cidOf('added'), trace: added }
        }
        const more = messages.length === 0 ? '' : ` + ${messages.length}`
        asked.push(`compute ${tipsets.indexOf(call.tipset)} ${vmHeight}${more}`)
        return { root: STATE.stateRoot, trace: [result('a'), result('b'), ...added] }
      }
      case 'replay':
        asked.push(`replay ${tipsets.indexOf(call.tipset)}`)
        if (!call.message.equals(cidOf('a')) && !call.message.equals(cidOf('b')))
          throw new ChainError('NOT_FOUND', 'given message not found in tipset')
        return result(call.message.equals(cidOf('a')) ? 'a' : 'b')
      default:
        throw new Error(`${call.method}: not asked`)
    }
  })
})

describe('CachingVmHost', () => {
  it('executes to the message that is asked for, and no further while it is the only one', async () => {
    const host = new CachingVmHost(store, inner)
    const [tipset] = tipsets as [Tipset]
    const [one, same] = await Promise.all([host.replay(tipset, cidOf('a')), host.replay(tipset, cidOf('a'))])
    // The same object: its JSON text can be kept with it.
    expect(same).toBe(one)
    expect(await host.replay(tipset, cidOf('a'))).toBe(one)
    expect(asked).toEqual(['replay 0'])
    expect((await host.compute(tipset, 1, [])).trace.length).toBe(2)
    expect(asked).toEqual(['replay 0', 'compute 0 1'])
  })

  it('executes a tipset once for all its other replays and its traces', async () => {
    const host = new CachingVmHost(store, inner)
    const [tipset] = tipsets as [Tipset]
    const ask = (name: string) => host.replay(tipset, cidOf(name))
    const three = await Promise.all([ask('a'), ask('b'), ask('b')])
    expect(three.map(({ msgCid }) => String(msgCid))).toEqual(['a', 'b', 'b'].map((name) => String(cidOf(name))))
    expect(asked).toEqual(['replay 0', 'compute 0 1'])
    expect(three[2]).toBe(three[1])
    const { trace } = await host.compute(tipset, 1, [])
    expect(trace[1]).toBe(three[1])
    expect(await ask('a')).toBe(trace[0])
    expect(asked).toEqual(['replay 0', 'compute 0 1'])
    await host.compute(tipset, 2, [])
    expect(asked).toEqual(['replay 0', 'compute 0 1', 'compute 0 2'])
  })

  it('keeps what was printed, and prints nothing whose traces are there', async () => {
    const [first, second] = tipsets as [Tipset, Tipset]
    inner.computeForText = async (tipset) => {
      asked.push(`print ${tipsets.indexOf(tipset)}`)
      return { root: STATE.stateRoot, results: [utf8('{}')] }
    }
    const host = new CachingVmHost(store, inner)
    const [one, same] = await Promise.all([host.computeForText(first, 1, []), host.computeForText(first, 1, [])])
    expect(same).toBe(one)
    expect(await host.computeForText(first, 1, [])).toBe(one)
    const traced = await host.compute(second, 1, [])
    expect(await host.computeForText(second, 1, [])).toBe(traced)
    // Values of what was printed are still to be had.
    expect((await host.compute(first, 1, [])).trace.length).toBe(2)
    expect(asked).toEqual(['print 0', 'compute 1 1', 'compute 0 1'])
  })

  it('adds what a computation adds to what is remembered of the tipset', async () => {
    const [tipset] = tipsets as [Tipset]
    const host = new CachingVmHost(store, inner)
    const message = {} as Message
    // What it left is not known: it is executed with what is added.
    expect((await host.compute(tipset, 1, [message])).trace.length).toBe(3)
    expect(asked).toEqual(['compute 0 1 + 1'])
    await host.executeTipset(tipset)
    asked = []
    for (let i = 0; i < 2; i++) {
      const { root, trace } = await host.compute(tipset, 1, [message])
      expect([String(root), ...trace.map(({ msgCid }) => String(msgCid))]).toEqual(
        ['added', 'a', 'b', 'more'].map((name) => String(cidOf(name))),
      )
    }
    const { trace } = await host.compute(tipset, 3, [])
    expect(trace.length).toBe(2)
    expect(asked).toEqual(['compute 0 1', 'add 1 at 1', 'add 1 at 1', 'add 0 at 3'])
    asked = []
    lost = new BlockMissing([STATE.stateRoot])
    expect((await host.compute(tipset, 1, [message])).trace.length).toBe(3)
    expect(asked).toEqual(['add 1 at 1', 'compute 0 1 + 1'])
  })

  it('adds to a tipset far below the head without walking down to it', async () => {
    const [deep] = tipsets as [Tipset]
    let tip = deep
    for (const block of deep.blocks) store.putHeader(block)
    for (let height = 2; height <= 300; height++) {
      const block = header(tip, height, 0)
      store.putHeader(block)
      tip = createTipset([block])
    }
    store.setHead(tip)
    const host = new CachingVmHost(store, inner)
    const { parent } = store
    let steps = 0
    store.parent = (tipset) => {
      steps++
      return parent.call(store, tipset)
    }
    const names = async () => (await host.compute(deep, 1, [{} as Message])).trace.map(({ msgCid }) => String(msgCid))
    const expected = ['a', 'b', 'more'].map((name) => String(cidOf(name)))
    expect([await names(), await names()]).toEqual([expected, expected])
    expect([asked, steps]).toEqual([['compute 0 1', 'add 1 at 1', 'add 1 at 1'], 0])
    // Where the state is gone, it is executed with what is added.
    lost = new BlockMissing([STATE.stateRoot])
    expect(await names()).toEqual(expected)
    expect(asked.at(-1)).toBe('compute 0 1 + 1')
  })

  it('says that a message is not in the tipset', async () => {
    const host = new CachingVmHost(store, inner)
    // Of a tipset of which nothing is known, one message, all.
    for (const known of [[], ['a'], ['a', 'b']]) {
      for (const name of known) await host.replay(tipsets[0] as Tipset, cidOf(name))
      const error: unknown = await host.replay(tipsets[0] as Tipset, cidOf('c')).catch((e) => e)
      expect(error).toBeInstanceOf(ChainError)
      // Lotus' own text (chain/stmgr/execute.go Replay).
      expect((error as ChainError).message).toBe('given message not found in tipset')
    }
  })

  it('forgets the tipset that was used longest ago', async () => {
    // Room for two tipsets of two messages.
    const host = new CachingVmHost(store, inner, CHARGES * 5)
    for (const at of [0, 1, 0, 2, 0, 1]) await host.compute(tipsets[at] as Tipset, 1, [])
    expect(asked).toEqual(['compute 0 1', 'compute 1 1', 'compute 2 1', 'compute 1 1'])
  })

  it('replays the message alone where the rest of the tipset fails', async () => {
    inner.compute = () => Promise.reject(new VmError('HOST_STACK_EXHAUSTED', 'no stack'))
    const host = new CachingVmHost(store, inner)
    for (const name of ['a', 'b'])
      expect(String((await host.replay(tipsets[0] as Tipset, cidOf(name))).msgCid)).toBe(String(cidOf(name)))
    inner.compute = () => Promise.reject(new ChainError('TIPSET_INVALID', 'wrong'))
    await expect(host.replay(tipsets[0] as Tipset, cidOf('b'))).rejects.toThrow('wrong')
  })

  it('remembers what tipsets left', async () => {
    const host = new CachingVmHost(store, inner)
    const [tipset] = tipsets as [Tipset]
    store.putHeader(tipset.blocks[0] as (typeof tipset.blocks)[0])
    store.setHead(tipset)
    expect(await Promise.all([host.tipsetState(tipset), host.tipsetState(tipset)])).toEqual([STATE, STATE])
    expect(await host.tipsetState(tipset)).toBe(STATE)
    expect(asked).toEqual(['execute'])
    await host.executeTipset(tipset)
    expect(asked).toEqual(['execute', 'execute'])
  })

  it('forgets traces when the tipset turns out to leave something else', async () => {
    const [tipset, printed] = tipsets as [Tipset, Tipset]
    const other = { ...STATE, stateRoot: cidOf('other') }
    inner.computeForText = async () => ({ root: STATE.stateRoot, results: [utf8('{}')] })
    const recheck = inner.run.bind(inner)
    inner.run = async (call, signal) => (call.method === 'recheckTipset' ? other : recheck(call, signal))
    const host = new CachingVmHost(store, inner)
    await host.compute(tipset, 1, [])
    await host.computeForText(printed, 1, [])
    for (const one of [tipset, printed]) await host.recheckTipset(one)
    asked = []
    await host.compute(tipset, 1, [])
    await host.compute(printed, 1, [])
    expect(asked).toEqual(['compute 0 1', 'compute 1 1'])
    // What has another result than the one that is remembered is not kept.
    await host.compute(tipset, 1, [])
    expect(asked).toEqual(['compute 0 1', 'compute 1 1', 'compute 0 1'])
    // Nor is the trace of a single message.
    const [, , third] = tipsets as [Tipset, Tipset, Tipset]
    await host.executeTipset(third)
    await host.replay(third, cidOf('a'))
    await host.recheckTipset(third)
    asked = []
    await host.replay(third, cidOf('a'))
    expect(asked).toEqual(['replay 2'])
  })

  it('takes a recheck by claimed receipts for the result where it has these receipts', async () => {
    const [tipset] = tipsets as [Tipset]
    const other = { ...STATE, stateRoot: cidOf('other') }
    const answer = inner.run.bind(inner)
    inner.run = async (call, signal) => (call.method === 'recheckTipset' ? other : answer(call, signal))
    const host = new CachingVmHost(store, inner)
    store.setHead(store.genesis())
    await host.tipsetState(tipset)
    expect(await host.recheckTipset(tipset, undefined, cidOf('claimed'))).toBe(other)
    expect(await host.tipsetState(tipset)).toBe(STATE)
    expect(await host.recheckTipset(tipset, undefined, STATE.receiptsRoot)).toBe(other)
    expect(await host.tipsetState(tipset)).toBe(other)
  })

  it('spares from collections what was executed here, not what headers say of other tipsets', async () => {
    const [executed] = tipsets as [Tipset]
    const root = putBlock(store.blocks, Uint8Array.of(0x80))
    const genesis = store.genesis()
    const old = createTipset([header(genesis, 1, 9)])
    const next = { ...header(old, 2, 0), parentStateRoot: root, parentMessageReceipts: root }
    for (const block of [...old.blocks, next]) store.putHeader(block)
    store.setHead(createTipset([next]))
    const host = new CachingVmHost(store, inner)
    expect(await host.tipsetState(old)).toEqual({ stateRoot: root, receiptsRoot: root })
    await host.executeTipset(executed)
    expect([asked, [...host.cachedRoots()]]).toEqual([['execute'], [STATE.stateRoot, STATE.receiptsRoot]])
  })

  it('cancels shared work when everybody has given up', async () => {
    const signals: AbortSignal[] = []
    inner.replay = (_tipset, _message, signal) =>
      new Promise((_resolve, reject) => {
        signals.push(signal as AbortSignal)
        signal?.addEventListener('abort', () => reject(new ChainError('CANCELLED', 'ended')))
      })
    const host = new CachingVmHost(store, inner)
    const [tipset] = tipsets as [Tipset]
    const [first, second] = [new AbortController(), new AbortController()]
    const calls = [first, second].map(({ signal }) =>
      host.replay(tipset, cidOf('a'), signal).catch((error: ChainError) => error.code),
    )
    first.abort()
    expect(await calls[0]).toBe('CANCELLED')
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    second.abort()
    expect(await calls[1]).toBe('CANCELLED')
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    // Somebody new does not get the cancelled run.
    const third = new AbortController()
    const late = host.replay(tipset, cidOf('a'), third.signal).catch((error: ChainError) => error.code)
    expect(signals.length).toBe(2)
    third.abort()
    expect(await late).toBe('CANCELLED')
  })
})
