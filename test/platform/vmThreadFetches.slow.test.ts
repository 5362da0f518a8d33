/** A machine in a real thread whose chain has nothing but headers: what it reads is fetched while it executes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemTimers } from '../../platform/server/clock.ts'
import { startVmThread } from '../../platform/server/vmThreads.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Timers } from '../../src/base/ports.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import type { TipsetState, VmHost } from '../../src/chain/vm.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { fetchingVmHost } from '../../src/execution/fetchingVmHost.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { type BlockEdge, BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { type DevnetNode, devnetNode, signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'

let node: DevnetNode
let tipset: Tipset
let state: TipsetState
let host: WorkerVmHost | undefined

beforeEach(async () => {
  node = devnetNode({ accountsPerKind: 2 })
  const [sender, receiver] = node.plan.accounts
  if (sender === undefined || receiver === undefined) throw new Error('no accounts')
  node.pending.push(signedBy(sender, { to: receiver.address, value: 5n }))
  tipset = await node.devnet.mine(1)
  state = await node.vm.tipsetState(tipset)
})
afterEach(() => host?.close())

/** What the machine did. */
interface Counts {
  /** How often an execution began. */
  runs: number
  fetched: number
}

/** @param fetch - a block; undefined: nobody has it */
function open(
  fetch: (cid: Cid) => Promise<Uint8Array | undefined>,
  timers: Timers = systemTimers,
): { vm: VmHost; counts: Counts } {
  const counts = { runs: 0, fetched: 0 }
  const blocks = new MemoryBlockstore()
  const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
  store.setGenesis(firstBlock(node.view.store.genesis()))
  // The thread has the machine's own.
  const view = new ChainView({ store, network: node.view.network, beaconRound: () => 0 })
  const source = async (cids: readonly Cid[]): Promise<(readonly [Cid, Uint8Array])[]> => {
    const out: (readonly [Cid, Uint8Array])[] = []
    for (const cid of cids) {
      const data = await fetch(cid)
      if (data === undefined) continue
      counts.fetched++
      out.push([cid, data])
    }
    return out
  }
  const edge: BlockEdge = new BlockFetcher(blocks, [{ fetch: source }]).run
  host = new WorkerVmHost({
    ...{ view, threads: 1, timers, log: silentLog },
    startThread: () => {
      const port = startVmThread({ mode: 'native' })
      const { post } = port
      return Object.assign(port, {
        post: (message: Uint8Array) => {
          counts.runs++
          post(message)
        },
      })
    },
  })
  return { vm: fetchingVmHost(host, edge, host.fetched), counts }
}

const ofNode = async (cid: Cid): Promise<Uint8Array | undefined> => node.view.store.blocks.get(cid)

describe('a machine that fetches', { timeout: 60_000 }, () => {
  it('executes once, whatever it misses', async () => {
    const { vm, counts } = open(ofNode)
    expect(await vm.executeTipset(tipset)).toEqual(state)
    expect(counts.fetched).toBeGreaterThan(10)
    expect(counts.runs).toBe(1)
  })

  it('begins again where a block comes late', async () => {
    // The end of the time for each is there before the block.
    const none: Timers = {
      setTimeout: (run) => {
        queueMicrotask(run)
        return () => undefined
      },
    }
    const late = async (cid: Cid): Promise<Uint8Array | undefined> => {
      await new Promise((resolve) => setImmediate(resolve))
      return ofNode(cid)
    }
    const { vm, counts } = open(late, none)
    expect(await vm.executeTipset(tipset)).toEqual(state)
    expect(counts.runs).toBeGreaterThan(10)
  })

  it('tells which block nobody has', async () => {
    const lacking = firstBlock(tipset).parentStateRoot
    const { vm } = open(async (cid) => (cid.equals(lacking) ? undefined : ofNode(cid)))
    const error = await vm.executeTipset(tipset).catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(BlockMissing)
    expect(String((error as BlockMissing).cids[0])).toBe(String(lacking))
  })

  it('ends with its call while a block is waited for, and executes the next one', async () => {
    const asked = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const { vm } = open(async (cid) => {
      asked.resolve()
      await goOn.promise
      return ofNode(cid)
    })
    const caller = new AbortController()
    const call = vm.executeTipset(tipset, caller.signal).catch((failure: { code?: string }) => failure.code)
    await asked.promise
    caller.abort()
    expect(await call).toBe('CANCELLED')
    goOn.resolve()
    expect(await vm.executeTipset(tipset)).toEqual(state)
  })
})
