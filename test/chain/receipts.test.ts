/** A snapshot of Lotus holds no receipts: they are made by executing the tipset again. */
import { beforeAll, expect, it } from 'vitest'
import { parentReceipts, readReceipts } from '../../src/chain/receipts.ts'
import { initCrypto } from '../../src/crypto/init.ts'
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
  const made = await parentReceipts(tipset, view, vm, readReceipts)
  expect(made).toHaveLength(view.tipsetMessages(store.parent(tipset)).length)
})
