/** What a tree that nobody has read says is the measure. */
import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { finish } from '../../src/base/steps.ts'
import { tryActorOf } from '../../src/chain/actorLookup.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { walkDag } from '../../src/ipld/walkDag.ts'
import { SenderStates } from '../../src/mempool/senderStates.ts'
import { initState } from '../../src/state/init.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import type { ActorState } from '../../src/types/actor.ts'
import { type Address, secp256k1Address } from '../../src/types/address.ts'
import { seeded } from '../support/seeded.ts'

const SENDERS = 300
const senders = Array.from({ length: SENDERS }, (_, i) => secp256k1Address(Uint8Array.of(4, i >> 8, i & 255)))

class CountingStore extends MemoryBlockstore {
  reads = 0

  override get(cid: Cid): Uint8Array | undefined {
    this.reads++
    return super.get(cid)
  }
}

function actor(nonce: bigint, balance: bigint): ActorState {
  return { code: blockCid(utf8('code')), head: blockCid(utf8('head')), nonce, balance, delegatedAddress: null }
}

function emptyState(store: MemoryBlockstore): Cid {
  const tree = StateTree.create(store, 5)
  const addressMap = StateTree.create(store, 0).flush()
  const head = putCbor(store, initState, { addressMap, nextId: 100n, networkName: 'test' })
  tree.setActor(1n, { ...actor(0n, 0n), head })
  return tree.flush()
}

/** The state after `write`. */
function changed(store: MemoryBlockstore, root: Cid, write: (tree: StateTree) => void): Cid {
  const tree = StateTree.load(store, root)
  write(tree)
  return tree.flush()
}

function give(tree: StateTree, address: Address, nonce: bigint): void {
  tree.setActor(tree.lookupId(address) ?? tree.registerAddress(address), actor(nonce, nonce * 10n))
}

function expectAlike(states: SenderStates, store: MemoryBlockstore, root: Cid): void {
  const senderOf = finish(states.of(StateTree.load(store, root)))
  const fresh = StateTree.load(store, root)
  for (const one of senders) {
    const expected = tryActorOf(fresh, one)
    const found = senderOf(one)
    expect([found?.nonce, found?.balance]).toEqual([expected?.nonce, expected?.balance])
  }
}

describe('nonces and balances of senders', () => {
  test('are those of the state, whichever comes after which', () => {
    const random = seeded('sender states')
    const store = new MemoryBlockstore()
    const roots = [emptyState(store)]
    const states = new SenderStates()
    for (let round = 0; round < 60; round++) {
      // Branches give one address different IDs, and take actors away.
      const parent = roots[random.int(roots.length)] as Cid
      const root = changed(store, parent, (tree) => {
        for (let i = 0; i < 12; i++) give(tree, senders[random.int(SENDERS)] as Address, BigInt(random.int(1000)))
        if (random.int(3) === 0) tree.deleteActor(100n + BigInt(random.int(20)))
      })
      roots.push(root)
      expectAlike(states, store, root)
      if (random.int(2) === 0) expectAlike(states, store, roots[random.int(roots.length)] as Cid)
    }
  })

  test('are read again only where two states differ', () => {
    const store = new CountingStore()
    const all = changed(store, emptyState(store), (tree) => {
      for (const one of senders) give(tree, one, 1n)
    })
    const next = changed(store, all, (tree) => give(tree, senders[7] as Address, 2n))
    const states = new SenderStates()
    const readOf = (root: Cid): number => {
      const before = store.reads
      const senderOf = finish(states.of(StateTree.load(store, root)))
      for (const one of senders) senderOf(one)
      return store.reads - before
    }
    expect(readOf(all)).toBeGreaterThan(20)
    // Two roots, two address maps, and the way to one actor in both.
    expect(readOf(next)).toBeLessThan(16)
    // What others changed is not read.
    const others = (nonce: bigint): Cid =>
      changed(store, next, (tree) => {
        for (let id = 10_000n; id < 13_000n; id++) tree.setActor(id, actor(nonce, 0n))
        give(tree, senders[7] as Address, nonce)
      })
    const few = new SenderStates()
    const readOfFew = (root: Cid): number => {
      const before = store.reads
      const senderOf = finish(few.of(StateTree.load(store, root)))
      for (const one of senders.slice(0, 10)) senderOf(one)
      return store.reads - before
    }
    readOfFew(others(1n))
    expect(readOfFew(others(2n))).toBeLessThan(60)
  })

  test('are still those of a state while others ask for the next one', () => {
    const store = new MemoryBlockstore()
    const first = changed(store, emptyState(store), (tree) => {
      for (const one of senders) give(tree, one, 1n)
    })
    const second = changed(store, first, (tree) => {
      for (const one of senders) give(tree, one, 2n)
    })
    const states = new SenderStates()
    const ofFirst = finish(states.of(StateTree.load(store, first)))
    const ofSecond = finish(states.of(StateTree.load(store, second)))
    for (const one of senders.slice(0, 100)) expect(ofFirst(one)?.nonce).toBe(1n)
    for (const one of senders) expect(ofSecond(one)?.nonce).toBe(2n)
    for (const one of senders.slice(100)) expect(ofFirst(one)?.nonce).toBe(1n)
    expectAlike(states, store, second)
  })

  test('do not need the older state', () => {
    const store = new MemoryBlockstore()
    const before = changed(store, emptyState(store), (tree) => {
      for (const one of senders) give(tree, one, 1n)
    })
    const states = new SenderStates()
    const senderOf = finish(states.of(StateTree.load(store, before)))
    // A few: a tree keeps what was read of it.
    for (const one of senders.slice(0, 10)) expect(senderOf(one)?.nonce).toBe(1n)
    const after = changed(store, before, (tree) => {
      for (const one of senders) give(tree, one, 3n)
    })
    const follow = (cid: Cid): boolean => store.has(cid)
    const needed = new Set<string>()
    walkDag(store, after, () => undefined, { seen: needed, follow })
    const old: Cid[] = []
    walkDag(store, before, (cid) => old.push(cid), { follow })
    const gone = old.filter((cid) => !needed.has(cid.key))
    expect(gone.length).toBeGreaterThan(20)
    for (const cid of gone) store.delete(cid)
    expectAlike(states, store, after)
  })
})
