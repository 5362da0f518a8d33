/** Blocks by hash, as Lotus' tipsetresolver.go finds them: also those that the head has left, unless they are to be canonical. */

import { expect, test } from 'vitest'
import { finish } from '../../src/base/steps.ts'
import { ethBlockHash } from '../../src/eth/ethIndex.ts'
import { putCbor } from '../../src/ipld/blockstore.ts'
import { EthReader } from '../../src/rpc/ethReader.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock } from '../../src/types/tipset.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { sharedMissing } from '../support/shared.ts'

test.skipIf(sharedMissing)('a block that was left is there, and is not canonical', () => {
  const { view, vm } = openRecordedView('nv28')
  const { store } = view
  const reader = new EthReader({ view, vm } as unknown as ConstructorParameters<typeof EthReader>[0])
  const left = store.head()
  const hash = ethBlockHash(left)
  const ask = (requireCanonical: boolean) => finish(reader.tipset({ hash, requireCanonical }, true))
  expect([ask(false), ask(true)]).toEqual([left, left])

  store.setHead(store.parent(left))
  expect(ask(false)).toEqual(left)
  expect(() => ask(true)).toThrow(`failed to get tipset at height: ${left.height}`)

  const sibling = { ...firstBlock(left), forkSignaling: 7n }
  putCbor(store.blocks, blockHeader, sibling)
  store.setHead(createTipset([sibling]))
  expect(ask(false)).toEqual(left)
  expect(() => ask(true)).toThrow('tipset is not canonical')
  expect(() => finish(reader.tipset({ hash: new Uint8Array(32), requireCanonical: false }, true))).toThrow(
    /^failed to get tipset by hash: cannot find tipset with cid bafy/,
  )
})
