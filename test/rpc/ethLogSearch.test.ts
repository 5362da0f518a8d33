/** A search of the past is of one chain, also where a database knows one part of it and the node the other; and gives so many logs. */
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import { ethBlockHash } from '../../src/eth/ethIndex.ts'
import { HeadIndex, type HeadIndexDeps } from '../../src/index/headIndex.ts'
import { EthLogSearch } from '../../src/rpc/ethLogSearch.ts'
import { MAX_FILTER_RESULTS } from '../../src/rpc/limits.ts'
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

const filter = logFilter.fromJson({}, JSON_CONTEXT)

/** A log of a tipset, in a database. */
const row = (tipset: Tipset) => ({
  ...{ tipset: toHex(ethBlockHash(tipset)), height: tipset.height, position: 0, transaction_index: 0 },
  ...{ transaction: '00', address: '00', data: '', topics: [] },
})

interface Asked {
  readonly from: number
  readonly to: number
  readonly limit: number
}

/** A database that is asked before the node's own store. */
function indexOf(store: ChainStore, logs: (asked: Asked) => Promise<unknown>): HeadIndex {
  const deps = { ...{ view: { store }, reader: { logs }, timers: {}, isFirst: true }, clock: { monotonicMs: () => 0 } }
  return new HeadIndex(deps as unknown as HeadIndexDeps)
}

it('a database that follows a head which has moved on is believed up to where both chains part', async () => {
  const { store, on } = forkingChain(10)
  const fork = store.head()
  const [left, right] = [on(fork, 3), on(fork, 4)]
  store.setHead(left)
  const logs = async ({ from, to }: Asked) => ({
    at: { hasAnchor: true, first: 0 },
    // As far as it has written.
    rows: between(store, store.head(), from, Math.min(to, store.head().height - 1)).map(row),
  })
  const read: number[] = []
  const reader = loggedReader(store, async (tipset) => {
    read.push(tipset.height)
    return loggedBlock(tipset)
  })
  const search = new EthLogSearch(reader, indexOf(store, logs))
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

describe.each([
  ['the node', undefined],
  ['a database', 2],
  ['a database, and the node what is above it', 1],
])('%s', (_who, top) => {
  const HALF = MAX_FILTER_RESULTS / 2

  /** A chain whose tipsets at 1 and 2 have so many logs. @returns how many of them a search gives */
  async function found(counts: readonly [number, number]): Promise<number> {
    const { store } = forkingChain(4)
    const countOf = ({ height }: Tipset): number => counts[height - 1] ?? 0
    const reader = loggedReader(store, async (tipset) => loggedBlock(tipset, countOf(tipset)))
    const at = (height: number): Tipset => store.tipsetByHeight(height, undefined, 'next')
    const logs = async ({ from, to, limit }: Asked) => ({
      at: { hasAnchor: false, first: 0, height: top, tipset: toHex(ethBlockHash(at(top as number))) },
      rows: [1, 2]
        .filter((height) => height >= from && height <= Math.min(to, top as number))
        .map(at)
        .flatMap((tipset) => Array(countOf(tipset)).fill(row(tipset)))
        .slice(0, limit),
    })
    const search = new EthLogSearch(reader, top === undefined ? undefined : indexOf(store, logs))
    return (await search.past(filter, { from: 1, to: 2 }, 'test', plainCall())).length
  }

  it.each([
    [HALF, HALF],
    [MAX_FILTER_RESULTS + 1, 0],
    [0, MAX_FILTER_RESULTS + 1],
  ])('gives %i and %i logs: no more than the bound, or of one tipset alone', async (...counts) => {
    expect(await found(counts)).toBe(counts[0] + counts[1])
  })

  it.each([
    [HALF, HALF + 1],
    [MAX_FILTER_RESULTS, 1],
    [1, MAX_FILTER_RESULTS],
    [MAX_FILTER_RESULTS + 1, 1],
  ])('does not give %i and %i logs', async (...counts) => {
    await expect(found(counts)).rejects.toThrow('test: filter matches too many events')
  })
})
