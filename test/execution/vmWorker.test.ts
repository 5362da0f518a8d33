/** Both sides of the machine's thread over a pair of ports, with a scripted machine behind. */
import { beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { ChainError } from '../../src/chain/errors.ts'
import type { CallOptions, InvocResult } from '../../src/chain/vm.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { VmError } from '../../src/fvm/errors.ts'
import { getBlock, putBlock } from '../../src/ipld/blockstore.ts'
import { BlockMissing, IpldError } from '../../src/ipld/errors.ts'
import { idAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import { blsChainMessage, chainMessageCid } from '../../src/types/chainMessage.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { failure, message, ScriptedWorld, STATE } from './scriptedWorld.ts'

let world: ScriptedWorld

beforeEach(() => {
  world = new ScriptedWorld()
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
    world.machine = () => ({
      callWithGas: async (_message, _tipset, { priorMessages }) => {
        seen.push(priorMessages.map((one) => String(chainMessageCid(one))))
        return { error: '' } as InvocResult
      },
    })
    const host = world.open()
    const names = pending.map((one) => String(chainMessageCid(one)))
    for (const count of [3, 3, 1, 0, 2]) await host.callWithGas(message(1), world.tipset, options(count))
    expect(seen).toEqual([names, names, names.slice(0, 1), [], names.slice(0, 2)])
    // A thread that follows one that died knows nothing.
    world.threads[0]?.die('gone')
    await host.callWithGas(message(1), world.tipset, options(2))
    expect(seen.at(-1)).toEqual(names.slice(0, 2))
  })
})

describe('calls', () => {
  it('arrive and answer with their classes, though the thread has no blocks', async () => {
    world.machine = (own) => ({
      call: async (one, at) => {
        expect(own.genesis().key[0]?.equals(world.store.genesis().key[0] as Cid)).toBe(true)
        expect(at.height).toBe(1)
        expect(one.from).toBe(UNDEF_ADDRESS)
        return { msg: one, msgCid: at.key[0], error: '' } as InvocResult
      },
    })
    const result = await world.open().call(message(1234), world.tipset)
    expect(result.msg).toEqual(message(1234))
    expect(result.msg.to.toString('t')).toBe('t01234')
    expect(result.msgCid.equals(world.tipset.key[0] as Cid)).toBe(true)
  })

  it('know the head that is not stored yet', async () => {
    world.machine = () => ({ executeTipset: async (at) => ({ ...STATE, stateRoot: at.key[0] as Cid }) })
    const unstored = createTipset([header(world.tipset, 2, 3), header(world.tipset, 2, 4)])
    expect((await world.open().executeTipset(unstored)).stateRoot.toString()).toBe(String(unstored.key[0]))
  })

  it('bring back what an execution wrote, once', async () => {
    let written: Cid | undefined
    world.machine = (own) => ({
      executeTipset: async () => {
        written = putBlock(own.blocks, utf8('new state'))
        return STATE
      },
      compute: async () => ({ root: written as Cid, trace: [] }),
    })
    const host = world.open()
    await host.executeTipset(world.tipset)
    expect(world.store.blocks.get(written as Cid)).toEqual(utf8('new state'))
    const { root } = await host.compute(world.tipset, 1, [])
    expect(root.equals(written as Cid)).toBe(true)
  })

  it('read the recorded state without a thread', async () => {
    world.machine = () => ({})
    expect((await world.open().tipsetState(world.store.genesis())).stateRoot).toBe(
      world.store.genesis().blocks[0]?.parentStateRoot,
    )
    expect(world.threads).toEqual([])
  })
})

describe('missing blocks', () => {
  it('are sent with what they link to', async () => {
    const leaf = putBlock(world.store.blocks, utf8('leaf'), CODEC_RAW)
    const cbor = Uint8Array.from([0x81, 0xd8, 42, 0x58, leaf.bytes.length + 1, 0, ...leaf.bytes])
    const root = putBlock(world.store.blocks, cbor)
    let runs = 0
    world.machine = (own) => ({
      executeTipset: async () => {
        runs++
        getBlock(own.blocks, root)
        getBlock(own.blocks, leaf)
        return STATE
      },
    })
    await world.open().executeTipset(world.tipset)
    expect(runs).toBe(2)
  })

  it('that the chain lacks too are reported as such', async () => {
    const absent = blockCid(utf8('absent'))
    world.machine = (own) => ({
      replay: async () => ({ error: String(own.blocks.get(absent)) }) as InvocResult,
      executeTipset: async () => {
        getBlock(own.blocks, absent)
        return STATE
      },
    })
    const host = world.open()
    // Somebody who can do without it gets the answer "not there".
    expect((await host.replay(world.tipset, absent)).error).toBe('undefined')
    const error = await failure(host.executeTipset(world.tipset))
    expect(error).toBeInstanceOf(BlockMissing)
    expect((error as BlockMissing).cids.map(String)).toEqual([String(absent)])
    // It may have arrived since.
    putBlock(world.store.blocks, utf8('absent'))
    expect(await host.executeTipset(world.tipset)).toEqual(STATE)
  })

  it('of actors are looked for when one is missed, all at once, and every thread is told', async () => {
    const code = world.view.network.manifests.flatMap(({ actors }) => [...actors.values()])
    expect(code.length).toBeGreaterThan(1)
    const looked: Cid[] = []
    const has = world.store.blocks.has.bind(world.store.blocks)
    world.store.blocks.has = (cid) => {
      if (code.some((one) => one.equals(cid))) looked.push(cid)
      return has(cid)
    }
    let runs = 0
    let wanted: readonly Cid[] = []
    world.machine = (own) => ({
      executeTipset: async () => {
        runs++
        for (const cid of wanted) expect(own.blocks.get(cid)).toBeUndefined()
        return STATE
      },
    })
    const host = world.open({ threads: 2 })
    await Promise.all([host.executeTipset(world.tipset), host.executeTipset(world.tipset)])
    expect([world.threads.length, runs, looked.length]).toEqual([2, 2, 0])
    wanted = code
    await host.executeTipset(world.tipset)
    expect(runs).toBe(4)
    const before = looked.length
    await Promise.all([host.executeTipset(world.tipset), host.executeTipset(world.tipset)])
    expect([runs, looked.length]).toEqual([6, before])
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
      world.machine = () => ({ call: () => Promise.reject(thrown) })
      const error = (await failure(world.open().call(message(1), world.tipset))) as typeof thrown
      expect(error).toBeInstanceOf(thrown.constructor)
      expect(error).toEqual(thrown)
      expect((error as ChainError).code).toBe((thrown as ChainError).code)
      expect((error as ChainError).info).toEqual((thrown as ChainError).info)
      expect(error.stack).toBe(thrown.stack)
    })
  }

  it('that are bugs leave the message undecided', async () => {
    world.machine = () => ({ call: () => Promise.reject(new TypeError('x is not a function')) })
    const error = await failure(world.open().call(message(1), world.tipset))
    expect(error).toBeInstanceOf(VmError)
    expect((error as VmError).code).toBe('HOST_FAILED')
    expect((error as VmError).message).toBe('x is not a function')
  })

  it('of an answer that cannot be sent are told', async () => {
    world.machine = () => ({ call: async () => ({ error: () => 'a function' }) as unknown as InvocResult })
    expect(((await failure(world.open().call(message(1), world.tipset))) as ChainError).code).toBe('NOT_SUPPORTED')
  })
})
