import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { MemoryBlockstore, OverlayBlockstore, putBlock, putCbor } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { StateError } from '../../src/state/errors.ts'
import { initState } from '../../src/state/init.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import type { ActorState } from '../../src/types/actor.ts'
import { actorAddress, idAddress, parseAddress, secp256k1Address } from '../../src/types/address.ts'
import { headHeader, openShared } from '../support/archives.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'

function actor(balance: bigint): ActorState {
  return { code: blockCid(utf8('code')), head: blockCid(utf8('head')), nonce: 0n, balance, delegatedAddress: null }
}

describe('a state tree', () => {
  it('rolls back to any mark', () => {
    const random = seeded('state tree marks')
    for (let round = 0; round < 40; round++) {
      const store = new MemoryBlockstore(new NodeCache())
      const tree = StateTree.create(store, 5)
      for (let i = 0; i < 30; i++) tree.setActor(BigInt(i), actor(BigInt(i)))
      if (random.int(2) === 0) tree.flush()
      type Saved = Map<bigint, bigint | undefined>
      const snapshot = (): Saved =>
        new Map(Array.from({ length: 40 }, (_, i) => [BigInt(i), tree.getActor(BigInt(i))?.balance]))
      const marks: [number, Saved][] = []
      for (let step = 0; step < 60; step++) {
        const choice = random.int(5)
        if (choice === 0) marks.push([tree.mark(), snapshot()])
        else if (choice === 1) tree.deleteActor(BigInt(random.int(40)))
        else if (choice === 2 && marks.length > 0) {
          marks.length = random.int(marks.length) + 1
          const [mark, saved] = marks.pop() as [number, Saved]
          tree.rollback(mark)
          expect(snapshot()).toEqual(saved)
        } else tree.setActor(BigInt(random.int(40)), actor(BigInt(random.int(1000))))
      }
      const expected = snapshot()
      const fresh = StateTree.create(store, 5)
      for (const [id, balance] of expected) if (balance !== undefined) fresh.setActor(id, actor(balance))
      const root = tree.flush()
      expect(String(root)).toBe(String(fresh.flush()))
      const again = StateTree.load(store, root)
      for (const [id, balance] of expected) expect(again.getActor(id)?.balance).toBe(balance)
    }
  })

  it('refuses a mark that a flush has ended', () => {
    const tree = StateTree.create(new MemoryBlockstore(), 5)
    tree.setActor(1n, actor(1n))
    const mark = tree.mark()
    tree.flush()
    expect(() => tree.rollback(mark)).toThrow(StateError)
  })

  it('refuses a version that nobody knows', () => {
    const store = new MemoryBlockstore()
    expect(() => StateTree.create(store, 6)).toThrow('not supported')
    // [6, link, link] with the links of the empty tree
    const tree = StateTree.create(store, 5)
    const data = (store.get(tree.flush()) as Uint8Array).slice()
    data[1] = 6
    expect(() => StateTree.load(store, putBlock(store, data))).toThrow('unsupported state tree version: 6')
  })

  it('gives addresses the next id, and takes it back', () => {
    const store = new OverlayBlockstore(new MemoryBlockstore())
    const empty = StateTree.create(store, 5)
    const addressMap = StateTree.create(store, 0).flush()
    const head = putCbor(store, initState, { addressMap, nextId: 100n, networkName: 'test' })
    empty.setActor(1n, { ...actor(0n), head })
    const tree = StateTree.load(store, empty.flush())
    const [a, b] = [secp256k1Address(new Uint8Array(65)), actorAddress(utf8('b'))]
    expect(tree.lookupId(a)).toBeUndefined()
    expect(tree.registerAddress(a)).toBe(100n)
    const mark = tree.mark()
    expect(tree.registerAddress(b)).toBe(101n)
    expect(tree.lookupId(b)).toBe(101n)
    tree.rollback(mark)
    expect(tree.lookupId(b)).toBeUndefined()
    expect(tree.lookupId(a)).toBe(100n)
    expect(tree.lookupId(idAddress(7n))).toBe(7n)
    const again = StateTree.load(store, tree.flush())
    expect(again.lookupId(a)).toBe(100n)
    expect([...again.addresses()].map(([address, id]) => [String(address), id])).toEqual([[String(a), 100n]])
  })

  it.skipIf(missingShared('data/genesis') !== undefined)('finds the ids of mainnet', () => {
    const store = openShared('genesis/mainnet.car')
    const tree = StateTree.load(store, headHeader(store).parentStateRoot)
    let seen = 0
    for (const [address, id] of tree.addresses()) {
      expect(tree.lookupId(address)).toBe(id)
      expect(tree.lookupId(parseAddress(String(address)))).toBe(id)
      seen++
    }
    expect(seen).toBeGreaterThan(10)
  })

  it.skipIf(missingShared('data/golden/nv28') !== undefined)('compares with another', () => {
    const store = openShared('golden/nv28/chain.car.zst')
    const head = headHeader(store)
    const tree = StateTree.load(store, head.parentStateRoot)
    const changed = StateTree.load(new OverlayBlockstore(store), head.parentStateRoot)
    changed.setActor(1005n, { ...(tree.getActor(1005n) as ActorState), balance: 5n })
    changed.deleteActor(1006n)
    changed.setActor(999_999n, actor(1n))
    const found: string[] = []
    for (const one of tree.diff(StateTree.load(changed.store, changed.flush()))) {
      if (one === undefined) continue
      const [id, here, there] = one
      found.push(`${id} ${here === undefined ? '-' : '+'}${there === undefined ? '-' : '+'}`)
    }
    expect(found.sort()).toEqual(['1005 ++', '1006 +-', '999999 -+'])
  })
})
