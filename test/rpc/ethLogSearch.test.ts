/** A search of the past is of one chain, also where a database knows one part of it and the node the other. */
import { expect, it } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import { ethBlockHash } from '../../src/eth/ethIndex.ts'
import { HeadIndex, type HeadIndexDeps } from '../../src/index/headIndex.ts'
import { EthLogSearch } from '../../src/rpc/ethLogSearch.ts'
import { logFilter } from '../../src/rpc/types/logFilter.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import {
  between,
  forkingChain,
  inShort,
  JSON_CONTEXT,
  logged,
  loggedBlock,
  loggedReader,
  plainCall,
} from './forkingChain.ts'

it('a database that follows a head which has moved on is believed up to where both chains part', async () => {
  const { store, on } = forkingChain(10)
  const fork = store.head()
  const [left, right] = [on(fork, 3), on(fork, 4)]
  store.setHead(left)
  const row = (tipset: Tipset) => ({
    ...{ tipset: toHex(ethBlockHash(tipset)), height: tipset.height, position: 0, transaction_index: 0 },
    ...{ transaction: '00', address: '00', data: '', topics: [] },
  })
  const logs = async ({ from, to }: { from: number; to: number }) => ({
    at: { hasAnchor: true, first: 0 },
    // As far as it has written.
    rows: between(store, store.head(), from, Math.min(to, store.head().height - 1)).map(row),
  })
  const deps = {
    ...{ view: { store }, reader: { logs }, timers: {}, isFirst: true },
    clock: { monotonicMs: () => 0 },
  } as unknown as HeadIndexDeps
  const read: number[] = []
  const reader = loggedReader(store, async (tipset) => {
    read.push(tipset.height)
    return loggedBlock(tipset)
  })
  const search = new EthLogSearch(reader, new HeadIndex(deps))
  const filter = logFilter.fromJson({}, JSON_CONTEXT)
  const past = async (head: Tipset): Promise<string[]> =>
    inShort(await search.past(filter, { from: 5, to: undefined }, 'test', plainCall(), head))
  expect(await past(left)).toEqual(logged(between(store, left, 5, 12)))
  expect(read).toEqual([])
  expect(await past(right)).toEqual(logged(between(store, right, 5, 13)))
  expect(read.toSorted()).toEqual([11, 12, 13])
  // The head has grown: nothing that came later is told.
  expect(await past(fork)).toEqual(logged(between(store, fork, 5, 9)))
  expect(read.toSorted()).toEqual([11, 12, 13])
})
