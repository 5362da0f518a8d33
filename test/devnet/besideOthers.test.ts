/** A producer among others that are a little faster: its blocks stand beside theirs. */
import { expect, it } from 'vitest'
import { devnetOptions } from '../../src/devnet/options.ts'
import { createDevnetPlan } from '../../src/devnet/plan.ts'
import { TipsetMaker } from '../../src/devnet/tipsetMaker.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { devnetNode, GENESIS_TIMESTAMP } from '../support/devnetNode.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const BLOCK_MS = 4000
const EPOCHS = 12

it('blocks that came at the beginning of the epoch are siblings, no base', { timeout: 30_000 }, async () => {
  const time = new VirtualTime(GENESIS_TIMESTAMP * 1000)
  const both = { miners: 2, genesisTimestamp: GENESIS_TIMESTAMP, blockTimeMs: BLOCK_MS }
  const { store, view, vm, devnet, plan } = devnetNode({ ...both, produce: [0], timers: time, clock: time })
  const others = createDevnetPlan(devnetOptions({ ...both, produce: [1] }), builtinNetwork('devnet')).producers
  const deps = { view, vm, selectMessages: async () => [], flush: () => Promise.resolve(), timers: time, clock: time }
  const faster = new TipsetMaker(others, { ...deps, log: silentLog }, () => Promise.resolve())
  const made: Tipset[] = []
  store.onHeadChange((_, applied) => void made.push(...applied))
  devnet.start()
  await time.advance(BLOCK_MS)
  let beside = 0
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    const theirs = await faster.tipsetAt(store.head(), epoch, false)
    if (theirs !== undefined) store.setHead(theirs)
    await time.advance(BLOCK_MS)
    await time.settle()
    const ours = made.find(
      ({ height, blocks }) => height === epoch && blocks[0]?.miner.key === plan.producers[0]?.miner.key,
    )
    if (theirs === undefined || ours === undefined) continue
    expect(ours.blocks[0]?.parents).toEqual(theirs.blocks[0]?.parents)
    beside++
  }
  expect(beside).toBeGreaterThan(EPOCHS / 3)
  const heights = made.map(({ height, key }) => `${height} ${key}`)
  expect(new Set(heights).size).toBe(heights.length)
  await devnet.stop()
})
