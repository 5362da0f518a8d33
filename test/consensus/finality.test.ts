/** Finality of a head: the calculator over a chain of headers, F3 beside it, the fallbacks of Lotus. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { Finality } from '../../src/consensus/finality.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { silentLog } from '../support/recordedView.ts'

const DEPS = { chainFinality: 900, safeDistance: 200 }

/** A chain with so many blocks at each height; 0: a null round. */
function chainOf(counts: readonly number[]): ChainStore {
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  let tip: Tipset | undefined
  for (const [height, count] of counts.entries()) {
    if (count === 0) continue
    const headers = Array.from({ length: count }, (_, salt) => header(tip, height, salt))
    for (const one of headers) store.putHeader(one)
    tip = createTipset(headers)
    if (height === 0) store.setGenesis(headers[0]!)
  }
  store.setHead(tip as Tipset)
  return store
}

const FULL: readonly number[] = Array.from({ length: 1000 }, (_, height) => (height === 0 ? 1 : 5))

describe('finality', () => {
  it('is 21 epochs behind the head of a full chain', () => {
    const store = chainOf(FULL)
    const finality = new Finality({ store, ...DEPS })
    expect(finality.ec().depth).toBe(21)
    expect(finality.ec().tipset?.height).toBe(999 - 21)
    expect(finality.finalized().height).toBe(999 - 21)
    expect(finality.safe().height).toBe(999 - 21)
    expect(new Finality({ store, ...DEPS, safeDistance: 10 }).safe().height).toBe(989)
    expect(finality.probability(999 - 21)).toBeLessThan(2 ** -30)
    expect(finality.probability(999 - 20)).toBeGreaterThan(2 ** -30)
    expect(finality.probability(999)).toBeUndefined()
    expect(finality.probability(20)).toBeUndefined()
  })

  it('follows the head', () => {
    const store = chainOf(FULL)
    const finality = new Finality({ store, ...DEPS })
    expect(finality.ec().tipset?.height).toBe(978)
    store.setHead(store.tipsetByHeight(950, undefined, 'previous'))
    expect(finality.ec().tipset?.height).toBe(950 - 21)
  })

  it('counts null rounds, and falls back to 900 epochs where blocks are few', () => {
    const sparse = FULL.map((count, height) => (height > 900 && height % 2 === 1 ? 0 : count))
    const later = new Finality({ store: chainOf(sparse.slice(0, 999)), ...DEPS })
    expect(later.ec().depth).toBeGreaterThan(21)
    const thin = new Finality({ store: chainOf(FULL.map(() => 1)), ...DEPS })
    expect(thin.ec()).toEqual({ depth: undefined, tipset: undefined })
    expect(thin.finalized().height).toBe(99)
    expect(thin.safe().height).toBe(799)
  })

  it('is genesis on a chain that has just begun', () => {
    const finality = new Finality({ store: chainOf(FULL.slice(0, 30)), ...DEPS })
    expect(finality.ec().depth).toBeUndefined()
    expect(finality.finalized().height).toBe(0)
    expect(finality.safe().height).toBe(0)
  })

  it('is the newer of calculator and F3; a certificate too far behind is not told', () => {
    const store = chainOf(FULL)
    let f3: Tipset | undefined = store.tipsetByHeight(995, undefined, 'previous')
    const finality = new Finality({ store, ...DEPS, f3: () => f3 })
    expect(finality.finalized().height).toBe(995)
    expect(finality.ecFinalized().height).toBe(978)
    expect(finality.status()).toMatchObject({ f3: { height: 995 }, finalized: { height: 995 }, ec: { depth: 21 } })
    f3 = store.tipsetByHeight(50, undefined, 'previous')
    expect(finality.finalized().height).toBe(978)
    expect(finality.status().f3).toBeUndefined()
  })
})
