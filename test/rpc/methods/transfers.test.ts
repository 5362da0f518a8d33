/** What the methods of transfers do for callers that have gone. */
import { expect, test } from 'vitest'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { finish } from '../../../src/base/steps.ts'
import { ChainStore } from '../../../src/chain/chainStore.ts'
import { MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import type { CallContext, CallRow } from '../../../src/rpc/method.ts'
import { type TransferMethodsDeps, transferMethods } from '../../../src/rpc/methods/transfers.ts'
import { createTipset, type Tipset } from '../../../src/types/tipset.ts'
import { header } from '../../chain/buildChain.ts'
import { silentLog } from '../stubTable.ts'

test('tipsets are read only while somebody waits for them', async () => {
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  let tip = store.genesis()
  for (let height = 1; height <= 10; height++) {
    const block = header(tip, height, 0)
    store.putHeader(block)
    tip = createTipset([block])
  }
  store.setHead(tip)
  const caller = new AbortController()
  const read: number[] = []
  const transfers = {
    read: async ({ height }: Tipset) => {
      read.push(height)
      if (height === 3) caller.abort()
    },
  }
  const rows = transferMethods({ view: { store }, transfers } as unknown as TransferMethodsDeps)
  const since = rows.find(({ name }) => name === 'ChainGetTransfersSince') as CallRow
  const context = { walk: finish, signal: caller.signal } as unknown as CallContext
  const answer = since.handle([store.genesis().key, 1, 10], context) as Promise<unknown>
  await expect(answer).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(read).toEqual([1, 2, 3])
})
