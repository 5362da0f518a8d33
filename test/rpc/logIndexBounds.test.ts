/** How much of a chain the index of logs keeps, and from where a search begins anew: each at the bound, and one epoch further. */
import { beforeAll, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { EthLogIndex } from '../../src/rpc/ethLogIndex.ts'
import { MAX_LOG_EPOCHS, MAX_LOG_GAP } from '../../src/rpc/limits.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { plainCall } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

/** Epochs from one tipset to the next; null rounds lie between. */
const STEP = 20
/** The highest tipset that is asked about in the tests of what is kept; one epoch above it is another. */
const TOP: number = MAX_LOG_EPOCHS + 100 * STEP
const HEIGHTS: readonly number[] = [...Array.from({ length: TOP / STEP + 1 }, (_, i) => i * STEP), TOP + 1, TOP + STEP]

let store: ChainStore

beforeAll(() => {
  store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  let tip = store.genesis()
  for (const height of HEIGHTS.slice(1)) {
    const block = header(tip, height, 0)
    store.putHeader(block)
    tip = createTipset([block])
  }
  store.setHead(tip)
})

/** Asks a new index for logs between epochs, of the head at the last of them. @returns how many tipsets were read for it */
function asking(): (from: number, to: number) => Promise<number> {
  let reads = 0
  const index = new EthLogIndex({
    store,
    logs: async () => {
      reads++
      return []
    },
  })
  return async (from, to) => {
    reads = 0
    const head = store.tipsetByHeight(to, store.head(), 'next')
    await index.between({ head, from, to }, plainCall(), () => undefined)
    return reads
  }
}

function between(from: number, to: number): number {
  return HEIGHTS.filter((height) => height >= from && height <= to).length
}

it('a search so far above what is kept adds all that lies between; one that is further begins anew', async () => {
  const kept = 100 * STEP
  const near = asking()
  expect(await near(kept, kept)).toBe(1)
  const above = kept + MAX_LOG_GAP
  expect(await near(above, above + STEP)).toBe(between(kept + 1, above + STEP))
  expect(await near(kept, kept)).toBe(0)

  const far = asking()
  expect(await far(kept, kept)).toBe(1)
  expect(await far(above + 1, above + STEP)).toBe(1)
  expect(await far(kept, kept)).toBe(1)
})

it('a search so far below what is kept adds all that lies between; one that is further is not kept', async () => {
  const kept = 300 * STEP
  const near = asking()
  expect(await near(kept, kept)).toBe(1)
  const below = kept - MAX_LOG_GAP
  expect(await near(below, below)).toBe(between(below, kept - 1))
  expect(await near(below, below)).toBe(0)

  const far = asking()
  expect(await far(kept, kept)).toBe(1)
  for (let i = 0; i < 2; i++) expect(await far(below - STEP, below - 1)).toBe(1)
  expect(await far(kept, kept)).toBe(0)
})

it('so many epochs are kept; what is further below is read anew each time, and above that the lower half goes', async () => {
  const bottom = TOP - MAX_LOG_EPOCHS
  const ask = asking()
  expect(await ask(TOP, TOP)).toBe(1)
  for (let i = 0; i < 2; i++) expect(await ask(bottom - 1, TOP)).toBe(between(bottom - 1, TOP))
  expect(await ask(bottom, TOP)).toBe(between(bottom, TOP - 1))
  expect(await ask(bottom, TOP)).toBe(0)

  // The same when the last of them comes on top.
  const grown = asking()
  await grown(bottom, TOP - STEP)
  expect(await grown(TOP, TOP)).toBe(1)
  expect(await grown(bottom, TOP)).toBe(0)

  expect(await ask(TOP + 1, TOP + 1)).toBe(1)
  const half = TOP + 1 - MAX_LOG_EPOCHS / 2
  expect(await ask(half, TOP + 1)).toBe(0)
  expect(await ask(bottom + STEP, TOP + 1)).toBe(between(bottom + STEP, half - 1))
})
