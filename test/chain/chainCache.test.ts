/** What is kept of a chain is bounded by bytes, all kinds of it together: whoever reads all of it makes nothing hold all. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { EthIndex, ethBlockHash } from '../../src/eth/ethIndex.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { idAddress } from '../../src/types/address.ts'
import { createTipset, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { header } from './buildChain.ts'

const LIMIT = 1_000_000
const TIPSETS = 1_000

function chain(): { readonly store: ChainStore; readonly tipsets: readonly Tipset[] } {
  const store = new ChainStore({
    blocks: new MemoryBlockstore(new NodeCache(LIMIT)),
    meta: new MemoryStore(),
    log: silentLog,
  })
  const messages = storeBlockMessages(store.blocks, { bls: [], signed: [] })
  const genesis = { ...header(undefined, 0, 0), messages }
  store.setGenesis(genesis)
  const tipsets = [createTipset([genesis])]
  for (let height = 1; height < TIPSETS; height++) {
    const headers = [1, 2].map((salt) => ({ ...header(tipsets.at(-1), height, salt), messages }))
    for (const one of headers) store.putHeader(one)
    tipsets.push(createTipset(headers))
  }
  store.setHead(tipsets.at(-1) as Tipset)
  return { store, tipsets }
}

describe('the cache of a chain', () => {
  it('holds headers and tipsets up to its bytes', () => {
    const { store, tipsets } = chain()
    const [low] = tipsets as [Tipset]
    const [first, whole] = [store.header(low.key[0] as never), store.tipset(low.key)]
    expect(store.header(low.key[0] as never)).toBe(first)
    for (const { key } of tipsets) {
      for (const cid of key) store.header(cid)
      store.tipset(key)
      expect(store.cache.bytes).toBeLessThanOrEqual(LIMIT)
    }
    expect(store.cache.bytes).toBeGreaterThan(LIMIT / 4)
    expect(store.header(low.key[0] as never)).not.toBe(first)
    expect(store.tipset(low.key)).not.toBe(whole)
  })

  it('finds by height what its pointers name', () => {
    const { store, tipsets } = chain()
    for (const height of [0, 1, 19, 20, 21, 500, 998]) {
      for (let again = 0; again < 2; again++) {
        const found = store.tipsetByHeight(height, undefined, 'next')
        expect(tipsetKeyText(found.key)).toBe(tipsetKeyText((tipsets[height] as Tipset).key))
      }
    }
  })

  it('holds no headers for an index of hashes', () => {
    const { store, tipsets } = chain()
    const view = new ChainView({ store, network: builtinNetwork('devnet'), beaconRound: (epoch) => epoch })
    const index = new EthIndex(view)
    const find = (tipset: Tipset): Tipset | undefined => finish(index.tipset(ethBlockHash(tipset)))
    const middle = tipsets[500] as Tipset
    const found = find(middle)
    expect(tipsetKeyText(found?.key ?? [])).toBe(tipsetKeyText(middle.key))
    expect(finish(index.tipset(new Uint8Array(32)))).toBeUndefined()
    expect(store.cache.bytes).toBeLessThanOrEqual(LIMIT)
    expect(find(middle)).not.toBe(found)
  })
})

describe('a state tree', () => {
  it('remembers what was written, and of what was read the latest', () => {
    const store = new MemoryBlockstore(new NodeCache(LIMIT))
    const tree = StateTree.create(store, 5)
    const code = parseCid('bafk2bzaceaaxgqkg2knv5m6l3mblfxsgkwxhm2tzbmvqcw5k2lqrqk7lqgeqa')
    const actor = (balance: bigint) => ({ code, head: code, nonce: 0n, balance, delegatedAddress: null })
    const ids = Array.from({ length: 10_000 }, (_, i) => BigInt(1000 + i))
    for (const id of ids) tree.setActor(id, actor(id) as never)
    const loaded = StateTree.load(store, tree.flush())
    const [first] = ids as [bigint]
    const before = loaded.getActor(first)
    expect(loaded.getActor(first)).toBe(before)
    const mark = loaded.mark()
    loaded.setActor(1001n, actor(7n) as never)
    for (const id of ids) expect(loaded.getActor(id)?.balance).toBe(id === 1001n ? 7n : id)
    expect(loaded.getActor(1001n)?.balance).toBe(7n)
    expect(loaded.getActor(first)).not.toBe(before)
    loaded.rollback(mark)
    for (const id of ids) expect(loaded.getActor(id)?.balance).toBe(id)
    expect(loaded.lookupId(idAddress(1001))).toBe(1001n)
    expect(tree.flush()).toEqual(loaded.flush())
  })
})
