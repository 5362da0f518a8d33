import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { createTipset, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { FailingStore, StoreFault } from '../support/failingStore.ts'
import { header } from './buildChain.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function emptyStore(): ChainStore {
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log })
  store.setGenesis(header(undefined, 0, 0))
  return store
}

function extend(store: ChainStore, parent: Tipset, height: number, salts: number[]): Tipset {
  const headers = salts.map((salt) => header(parent, height, salt))
  for (const one of headers) store.putHeader(one)
  return createTipset(headers)
}

/** A small generator with a printed seed, so that a failure can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

describe('ChainStore', () => {
  it('finds tipsets by height as a plain walk does', () => {
    const seed = Date.now() % 1_000_000
    console.log(`seed ${seed}`)
    const random = randomFrom(seed)
    const store = emptyStore()
    const chain: Tipset[] = [store.genesis()]
    let height = 0
    while (chain.length < 300) {
      // Null rounds, now and then longer than a skip.
      height += random() < 0.7 ? 1 : random() < 0.9 ? 1 + Math.floor(random() * 4) : 30
      chain.push(extend(store, chain.at(-1) as Tipset, height, random() < 0.5 ? [1] : [1, 2]))
    }
    const head = chain.at(-1) as Tipset
    store.setHead(head)
    for (let i = 0; i < 2000; i++) {
      const at = Math.floor(random() * (head.height + 1))
      const before = chain.findLast((one) => one.height <= at) as Tipset
      const after = chain.find((one) => one.height >= at) as Tipset
      expect(store.tipsetByHeight(at, undefined, 'previous').height).toBe(before.height)
      expect(store.tipsetByHeight(at, undefined, 'next').height).toBe(after.height)
    }
    expect(() => store.tipsetByHeight(-1, undefined, 'next')).toThrow('height -1 is negative')
    expect(() => store.tipsetByHeight(head.height + 1, undefined, 'next')).toThrow(
      `looking for tipset with height greater than start point, req: ${head.height + 1}, head: ${head.height}`,
    )
  })

  it('knows a tipset by its blocks in any order, and none that has a block twice', () => {
    const store = emptyStore()
    const pair = extend(store, store.genesis(), 1, [1, 2])
    const [first, second] = pair.key as [Tipset['key'][number], Tipset['key'][number]]
    expect(store.tipset([second, first])).toEqual(pair)
    expect(() => store.tipset([first, second, first])).toThrow(`cannot create tipset with a block twice (${first})`)
    // Before anything is read: these are not here.
    const { key } = createTipset([header(pair, 2, 3)])
    expect(() => store.tipset([...key, ...key])).toThrow('a block twice')
  })

  it('tells each head change once, reverts newest first, applies oldest first, in order', () => {
    const store = emptyStore()
    const told: string[] = []
    const name = (list: readonly Tipset[]): string => list.map((one) => `${one.height}/${one.blocks.length}`).join(' ')
    const a1 = extend(store, store.genesis(), 1, [1])
    const a2 = extend(store, a1, 2, [1])
    const a3 = extend(store, a2, 3, [1])
    const b2 = extend(store, a1, 2, [2, 3])
    const b4 = extend(store, b2, 4, [2])
    let nested = false
    store.onHeadChange((reverted, applied) => {
      told.push(`-${name(reverted)} +${name(applied)}`)
      // A listener that moves the head hears of it after the change at hand has been told to everybody.
      if (nested) return
      nested = true
      store.setHead(b4)
    })
    store.onHeadChange((reverted, applied) => told.push(`second -${name(reverted)} +${name(applied)}`))
    store.onHeadChange(() => {
      throw new TypeError('a listener with a bug')
    })
    store.setHead(a3)
    store.setHead(b4)
    expect(told).toEqual(['- +1/1 2/1 3/1', 'second - +1/1 2/1 3/1', '-3/1 2/1 +2/2 4/1', 'second -3/1 2/1 +2/2 4/1'])
    expect(tipsetKeyText(store.head().key)).toBe(tipsetKeyText(b4.key))
    expect(store.isAncestor(a1, b4)).toBe(true)
    expect(store.isAncestor(a2, b4)).toBe(false)
  })

  it('keeps head and genesis', () => {
    const blocks = new MemoryBlockstore()
    const meta = new MemoryStore()
    const first = new ChainStore({ blocks, meta, log })
    first.setGenesis(header(undefined, 0, 0))
    const a1 = extend(first, first.genesis(), 1, [1, 2])
    first.setHead(a1)
    const second = new ChainStore({ blocks, meta, log })
    expect(second.load()).toBe(true)
    expect(second.head().key.map(String)).toEqual(a1.key.map(String))
    expect(second.genesis().height).toBe(0)
  })

  it('does not move to a head that cannot be kept, and tells nobody', () => {
    const meta = new FailingStore()
    const store = new ChainStore({ blocks: new MemoryBlockstore(), meta, log })
    store.setGenesis(header(undefined, 0, 0))
    const told: number[] = []
    store.onHeadChange((_reverted, applied) => told.push(...applied.map(({ height }) => height)))
    const a1 = extend(store, store.genesis(), 1, [1])
    const a2 = extend(store, a1, 2, [1])
    meta.fault = 'write'
    expect(() => store.setHead(a1)).toThrow(StoreFault)
    expect(store.head().height).toBe(0)
    expect(told).toEqual([])
    meta.fault = 'none'
    store.setHead(a2)
    expect(told).toEqual([1, 2])
    const again = new ChainStore({ blocks: store.blocks, meta, log })
    again.load()
    expect(again.head().height).toBe(2)
  })
})
