/** What a tipset left, as the next one says. */
import { expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { claimOf, recordedState, stateRootAfter } from '../../src/chain/recordedState.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { silentLog } from '../support/recordedView.ts'
import { header } from './buildChain.ts'

/** A chain of genesis, two blocks, and one on them that names them as `named` says. */
function chainOf(named: (key: Tipset['key']) => Tipset['key'][number][]): { store: ChainStore; pair: Tipset } {
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  const pair = createTipset([1, 2].map((salt) => header(store.genesis(), 1, salt)))
  const root = putBlock(store.blocks, Uint8Array.of(0x80))
  const roots = { parentStateRoot: root, parentMessageReceipts: root }
  const next = { ...header(pair, 2, 1), ...roots, parents: named(pair.key) }
  for (const block of [...pair.blocks, next]) store.putHeader(block)
  store.setHead(createTipset([next]))
  return { store, pair }
}

it('is read off whoever names its blocks, in whatever order', () => {
  for (const named of [(key: Tipset['key']) => [...key], (key: Tipset['key']) => key.toReversed()]) {
    const { store, pair } = chainOf(named)
    const { parentStateRoot, parentMessageReceipts } = firstBlock(store.head())
    expect(recordedState(store, pair)).toEqual({ stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts })
  }
})

it('is not read off a block that names but one of them', () => {
  const { store, pair } = chainOf((key) => key.slice(1))
  expect(recordedState(store, pair)).toBe(undefined)
})

it("is the next one's word for the state alone where no receipts are here, as in a snapshot: nothing is executed", async () => {
  const { store, pair } = chainOf((key) => [...key])
  const call = { walk: finish, signal: new AbortController().signal }
  const executed: Tipset[] = []
  const other = putBlock(store.blocks, Uint8Array.of(0x81))
  const vm = {
    tipsetState: async (tipset: Tipset) => {
      executed.push(tipset)
      return { stateRoot: other, receiptsRoot: other }
    },
  }
  const { parentStateRoot } = firstBlock(store.head())
  const absent = blockCid(Uint8Array.of(0x82))
  const moved = (roots: Partial<BlockHeader>): void => {
    const next = { ...firstBlock(store.head()), ...roots }
    store.putHeader(next)
    store.setHead(createTipset([next]))
  }
  moved({ parentMessageReceipts: absent })
  expect(recordedState(store, pair)).toBe(undefined)
  expect(await stateRootAfter(pair, store, vm, call)).toEqual(parentStateRoot)
  expect(executed).toEqual([])
  // A node that has not the state either executes, unless it fetches.
  moved({ parentStateRoot: absent })
  expect(await stateRootAfter(pair, store, vm, call, true)).toEqual(absent)
  expect(executed).toEqual([])
  expect(await stateRootAfter(pair, store, vm, call)).toEqual(other)
  expect(executed).toEqual([pair])
  // Of the head nobody says anything.
  expect(await stateRootAfter(store.head(), store, vm, call, true)).toEqual(other)
})

it('is claimed by the next one, whatever is at hand of it; nothing where that is not known', () => {
  const { store, pair } = chainOf((key) => [...key])
  const { parentStateRoot, parentMessageReceipts } = firstBlock(store.head())
  const claim = { stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts }
  expect(claimOf(store, pair)).toEqual(claim)
  expect(claimOf(store, store.head())).toBe(undefined)
  const far = (height: number, parents: Tipset['key']): void => {
    const block = { ...header(store.head(), height, 0), parents: [...parents] }
    store.putHeader(block)
    store.jumpTo(createTipset([block]))
  }
  far(1001, store.head().key)
  expect(claimOf(store, pair)).toEqual(claim)
  far(1002, store.head().key)
  expect(claimOf(store, pair)).toBe(undefined)
  // A header in between is not here.
  far(3, [blockCid(Uint8Array.of(0x83))])
  expect(claimOf(store, pair)).toBe(undefined)
  const none = new ChainStore({ blocks: store.blocks, meta: new MemoryStore(), log: silentLog })
  expect(claimOf(none, pair)).toBe(undefined)
})
