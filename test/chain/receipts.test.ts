/** A snapshot of Lotus holds no receipts: they are made by executing the tipset again, or fetched where its state is gone, too. */
import { beforeAll, expect, it } from 'vitest'
import { parentReceipts, readReceipts } from '../../src/chain/receipts.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { BlockEdge } from '../../src/ipld/blockFetcher.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'

beforeAll(() => initCrypto())

it('receipts that are missing are made again', { timeout: 120_000 }, async ({ skip }) => {
  const missing = missingShared('data/golden/live/chain.car.zst')
  skip(missing !== undefined, missing)
  const { view, vm, executes } = openRecordedView('live')
  skip(!executes, 'the actors of live are not here')
  const { store } = view
  let tipset = store.head()
  while (view.tipsetMessages(store.parent(tipset)).length === 0) tipset = store.parent(tipset)
  expect(() => readReceipts(store.blocks, firstBlock(tipset).parentMessageReceipts)).toThrow(BlockMissing)
  // They are read below the root that Lotus' header names, so they are its receipts.
  const made = await parentReceipts(tipset, { view, vm }, readReceipts)
  expect(made).toHaveLength(view.tipsetMessages(store.parent(tipset)).length)
})

const isHere = missingShared('data/golden/live/chain.car.zst') === undefined && openRecordedView('live').executes

/** What was done to have the receipts of a tipset whose state was collected. */
it.skipIf(!isHere).each([
  ['nothing, where nothing can be fetched', { root: true }, undefined, []],
  ['fetched', { root: true }, 'brings', ['fetched']],
  ['executed on a state that is fetched, where nobody has them', { root: true }, 'has none', ['fetched', 'executed']],
  ['fetched, where a part of the state is left', { root: false }, 'brings', ['tried', 'fetched']],
] as const)('receipts without their state: %s', { timeout: 120_000 }, async (_, hides, fetches, expected) => {
  const { view, vm } = openRecordedView('live')
  const { store } = view
  let tipset = store.head()
  while (view.tipsetMessages(store.parent(tipset)).length === 0) tipset = store.parent(tipset)
  const { parentMessageReceipts } = firstBlock(tipset)
  const { parentStateRoot } = firstBlock(store.parent(tipset))
  const isHidden = (cid: Cid): boolean => hides.root && cid.equals(parentStateRoot)
  const blocks: Blockstore = {
    get: (cid) => (isHidden(cid) ? undefined : store.blocks.get(cid)),
    has: (cid) => !isHidden(cid) && store.blocks.has(cid),
    put: (cid, data) => store.blocks.put(cid, data),
  }
  const done: string[] = []
  const local: Pick<VmHost, 'executeTipset'> = {
    executeTipset: () => {
      done.push('tried')
      return Promise.reject(new BlockMissing([parentStateRoot]))
    },
  }
  const make = (): Promise<unknown> => vm.executeTipset(store.parent(tipset))
  const edge: BlockEdge = async (run) => {
    done.push('fetched')
    if (fetches !== 'brings') throw new BlockMissing([parentMessageReceipts])
    await make()
    return run()
  }
  const fetchingVm: Pick<VmHost, 'executeTipset'> = {
    executeTipset: (of) => {
      done.push('executed')
      return vm.executeTipset(of)
    },
  }
  const fetching = fetches === undefined ? undefined : { edge, vm: fetchingVm }
  const made = parentReceipts(tipset, { view: view.over(blocks), vm: local, fetching }, readReceipts)
  if (fetching === undefined) await expect(made).rejects.toThrow(new BlockMissing([parentMessageReceipts]).message)
  else expect(await made).toHaveLength(view.tipsetMessages(store.parent(tipset)).length)
  expect(done).toEqual(expected)
})
