/** Rewriting all values of a HAMT, beside setting each. Real states: the chains up-24-28 and up-27-28, which cross upgrades. */
import { expect, it } from 'vitest'
import { bytes } from '../../src/codec/description.ts'
import { type Blockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { rewriteHamt } from '../../src/ipld/rewriteHamt.ts'
import { seeded } from '../support/seeded.ts'

const random = seeded('rewritten maps')

function changed(key: Uint8Array, value: Uint8Array): Uint8Array {
  return Uint8Array.from([...value, key[0] ?? 0])
}

it('gives the tree that setting each value gives', () => {
  for (const count of [0, 1, 3, 40, 3000]) {
    const store = new MemoryBlockstore()
    const tree = Hamt.empty(store, bytes)
    for (let i = 0; i < count; i++) tree.set(random.bytes(1 + random.int(20)), random.bytes(random.int(30)))
    const root = tree.flush()
    const expected = Hamt.load(store, root, bytes)
    for (const [key, value] of [...expected.entries()]) expected.set(key, changed(key, value))
    const rewritten = rewriteHamt(store, root, bytes, changed)
    expect(String(rewritten)).toBe(String(expected.flush()))
    expect(String(rewriteHamt(store, root, bytes, (_, value) => value))).toBe(String(root))
  }
})

it('holds one path at a time: a node is written before the next one beside it is read', () => {
  const store = new MemoryBlockstore()
  const tree = Hamt.empty(store, bytes)
  for (let i = 0; i < 5000; i++) tree.set(random.bytes(10), random.bytes(10))
  const root = tree.flush()
  let open = 0
  let most = 0
  const counted: Blockstore = {
    get: (cid) => {
      most = Math.max(most, ++open)
      return store.get(cid)
    },
    has: (cid) => store.has(cid),
    put: (cid, data) => {
      open--
      store.put(cid, data)
    },
  }
  rewriteHamt(counted, root, bytes, changed)
  expect(open).toBe(0)
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(6)
})
