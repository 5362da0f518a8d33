/** How many tipsets an answer with transfers has, whatever was asked for. */
import { expect, it } from 'vitest'
import { MAX_TRANSFER_TIPSETS } from '../../src/rpc/limits.ts'
import type { CallRow } from '../../src/rpc/method.ts'
import { type TransferMethodsDeps, transferMethods } from '../../src/rpc/methods/transfers.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { forkingChain, plainCall } from './forkingChain.ts'

it.each([
  ['as many as it has', MAX_TRANSFER_TIPSETS, MAX_TRANSFER_TIPSETS, MAX_TRANSFER_TIPSETS],
  ['fewer', MAX_TRANSFER_TIPSETS, MAX_TRANSFER_TIPSETS - 1, MAX_TRANSFER_TIPSETS - 1],
  ['as many as it has of a longer chain', MAX_TRANSFER_TIPSETS + 2, MAX_TRANSFER_TIPSETS, MAX_TRANSFER_TIPSETS],
  ['more', MAX_TRANSFER_TIPSETS + 2, MAX_TRANSFER_TIPSETS + 1, MAX_TRANSFER_TIPSETS],
  ['any number', MAX_TRANSFER_TIPSETS + 2, 0, MAX_TRANSFER_TIPSETS],
])('%s: of %i tipsets, %i being asked for, it has %i', async (_, height, limit, given) => {
  // One more on top of the last.
  const { store } = forkingChain(height + 1)
  const transfers = { read: async (tipset: Tipset) => tipset.height }
  const rows = transferMethods({ view: { store }, transfers } as unknown as TransferMethodsDeps)
  const since = rows.find(({ name }) => name === 'ChainGetTransfersSince') as CallRow
  const answer = await since.handle([store.genesis().key, 1, limit], plainCall())
  expect(answer).toMatchObject({ reverted: [], applied: Array.from({ length: given }, (_, i) => i + 1) })
})
