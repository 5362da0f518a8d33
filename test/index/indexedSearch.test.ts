/** An index that is a little behind its node's head: it does not know what the newest tipsets have executed. */
import { expect, test } from 'vitest'
import { systemClock } from '../../platform/server/clock.ts'
import { searchByCid } from '../../src/chain/searchMessage.ts'
import { HeadIndex } from '../../src/index/headIndex.ts'
import { indexedSearch } from '../../src/index/indexedSearch.ts'
import type { IndexReader } from '../../src/index/indexReader.ts'
import { tipsetName } from '../../src/index/tipsetRows.ts'
import { chainMessageCid } from '../../src/types/chainMessage.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { exchangeChain } from './indexedChain.ts'
import { timers } from './writers.ts'

test('what it does not have is not said to be executed nowhere, but above its end', async () => {
  const exchange = await exchangeChain()
  for (let i = 0; i < 4; i++) await exchange.mine()
  const { view, vm, store } = exchange.node
  const head = store.head()
  const newest = store.parent(head)
  /** Has no rows, and stands there. */
  const standingAt = (top: Tipset): IndexReader => {
    const at = { first: 0, height: top.height, finalHeight: 0, tipset: tipsetName(top), key: top.key.map(String) }
    const messages = async (_question: unknown, anchor: string): Promise<unknown> => ({
      at: { ...at, hasAnchor: anchor === at.tipset },
      rows: [],
    })
    return { messages } as unknown as IndexReader
  }
  const search = (reader: IndexReader, from: Tipset): ReturnType<typeof searchByCid> => {
    const index = indexedSearch(new HeadIndex({ view, reader, clock: systemClock, timers, isFirst: true }))
    const [message] = view.tipsetMessages(newest)
    const options = { limit: -1, allowReplaced: true }
    return searchByCid(chainMessageCid(message!), from, options, { view, vm, index })
  }
  const behind = standingAt(store.parent(newest))
  expect((await search(behind, head))?.tipset).toEqual(head)
  // Below the tipset that executed it, the same index knows enough.
  expect(await search(behind, newest)).toBeUndefined()
  expect(await search(standingAt(newest), head)).toBeUndefined()
})
