/** A local chain whose blocks are not all at hand: what is ordered is made once, also where something has to be fetched for it. */
import { beforeAll, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { Devnet } from '../../src/devnet/devnet.ts'
import type { BlockEdge } from '../../src/ipld/blockFetcher.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { fetchingRows } from '../../src/node/fetchingRows.ts'
import type { CallContext, CallRow } from '../../src/rpc/method.ts'
import { devnetMethods } from '../../src/rpc/methods/devnet.ts'
import { devnetNode } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'

beforeAll(initCrypto)

it.each([
  ['two tipsets', 2, {}, [4, 5]],
  ['a branch of two in place of the last two, and one on it', 1, { fork: 2 }, [3, 4, 5]],
] as const)('makes %s, with a block fetched for each', async (_name, count, options, heights) => {
  const node = devnetNode()
  await node.devnet.mine(3)
  const { view, vm, store } = node
  const missing = [...store.genesis().key]
  let isHere = false
  let fetches = 0
  const edge: BlockEdge = async (run) => {
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof BlockMissing)) throw error
        fetches++
        isHere = true
      }
    }
  }
  const made: number[] = []
  const stop = store.onHeadChange((_reverted, applied) => made.push(...applied.map((tipset) => tipset.height)))
  const devnet = new Devnet(
    node.plan.producers,
    {
      ...{ view, vm, edge, log: silentLog, flush: () => Promise.resolve() },
      ...{
        clock: { nowMs: () => 10_000_000_000_000, monotonicMs: () => 0 },
        timers: { setTimeout: () => () => undefined },
      },
      selectMessages: async () => {
        if (!isHere) throw new BlockMissing(missing)
        isHere = false
        return []
      },
    },
    node.plan.options,
  )
  const rows = fetchingRows(devnetMethods({ devnet, accounts: [] }), edge)
  const mine = rows.find(({ name }) => name === 'DevnetMine') as CallRow
  await mine.handle([count, options], { signal: new AbortController().signal } as CallContext)
  stop()
  expect(made).toEqual(heights)
  expect(fetches).toBeGreaterThanOrEqual(count)
})
