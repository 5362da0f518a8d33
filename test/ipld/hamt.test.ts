import { describe, expect, it } from 'vitest'
import { fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { bytes, type Codec, uint } from '../../src/codec/description.ts'
import { getCbor, MemoryBlockstore, OverlayBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { present } from '../../src/ipld/found.ts'
import { Hamt, type HamtOptions, hashesOf } from '../../src/ipld/hamt.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { evmState } from '../../src/state/evm.ts'
import { initState } from '../../src/state/init.ts'
import { marketState } from '../../src/state/market.ts'
import { powerState, powerStateAt } from '../../src/state/power.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { verifregState } from '../../src/state/verifreg.ts'
import { headHeader, openShared } from '../support/archives.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'

/** Values as they are, whatever they are. */
const raw: Codec<Uint8Array> = {
  ...bytes,
  write: (writer, value) => writer.raw(value),
  read: (reader) => reader.readRaw(),
}

interface Tree {
  readonly name: string
  readonly archive: string
  readonly root: Cid
  readonly options: HamtOptions
}

/** Roots of trees that the networks themselves made. */
function trees(): Tree[] {
  const out: Tree[] = []
  if (missingShared('data/golden/nv28/chain.car.zst') !== undefined) return out
  for (const archive of ['genesis/mainnet.car', 'genesis/calibnet.car']) {
    const store = openShared(archive)
    const root = headHeader(store).parentStateRoot
    const options = { pointerMaps: true }
    out.push({ name: 'actors', archive, root, options })
    const tree = StateTree.load(store, root)
    const power = getCbor(store, powerStateAt(0), (tree.getActor(4n) as { head: Cid }).head)
    const init = getCbor(store, initState, (tree.getActor(1n) as { head: Cid }).head)
    out.push({ name: 'power claims', archive, root: power.claims, options })
    out.push({ name: 'addresses', archive, root: init.addressMap, options })
  }
  const archive = 'golden/nv28/chain.car.zst'
  const store = openShared(archive)
  const header = headHeader(store)
  const tree = StateTree.load(store, header.parentStateRoot)
  const head = (id: bigint): Cid => (tree.getActor(id) as { head: Cid }).head
  const actors = getCbor(
    store,
    { ...raw, read: (reader: CborReader) => reader.readRaw() } as Codec<Uint8Array>,
    header.parentStateRoot,
  )
  const reader = new CborReader(actors)
  reader.readArray()
  reader.readUint()
  out.push({ name: 'actors', archive, root: reader.readCid(), options: {} })
  const power = getCbor(store, powerState, head(4n))
  out.push({ name: 'power claims', archive, root: power.claims, options: {} })
  out.push({ name: 'cron events', archive, root: power.cronEventQueue, options: { bitWidth: 6 } })
  out.push({ name: 'addresses', archive, root: getCbor(store, initState, head(1n)).addressMap, options: {} })
  const market = getCbor(store, marketState, head(5n))
  out.push({ name: 'pending proposals', archive, root: market.pendingProposals, options: {} })
  out.push({ name: 'locked', archive, root: market.lockedTable, options: { bitWidth: 6 } })
  out.push({ name: 'deal operations', archive, root: market.dealOpsByEpoch, options: {} })
  out.push({ name: 'verifiers', archive, root: getCbor(store, verifregState, head(6n)).verifiers, options: {} })
  return out
}

describe.skipIf(missingShared('data/golden/nv28/chain.car.zst') !== undefined)('trees of real chains', () => {
  it.each(trees().map((tree) => [`${tree.archive}: ${tree.name}`, tree] as const))('%s', (name, tree) => {
    const random = seeded(`HAMT ${name}`)
    const source = openShared(tree.archive)
    const entries = [...Hamt.load(source, tree.root, raw, tree.options).entries()]

    for (const nodes of [undefined, new NodeCache()]) {
      const store = new MemoryBlockstore(nodes)
      const built = Hamt.empty(store, raw, tree.options)
      for (const [key, value] of random.shuffle(entries)) built.set(key, value)
      const root = built.flush()
      expect(String(root)).toBe(String(tree.root))

      // The order of entries is part of what RPC answers show.
      const again = Hamt.load(store, root, raw, tree.options)
      expect([...again.entries()].map(([key]) => toHex(key))).toEqual(entries.map(([key]) => toHex(key)))
      expect([...present(again.keys())].map(toHex)).toEqual(entries.map(([key]) => toHex(key)))

      // Foreign keys that come and go leave no trace, whatever they did to the nodes in between.
      const extra = Array.from({ length: 60 }, () => random.bytes(1 + random.int(9)))
      const fresh = extra.filter((key) => again.get(key) === undefined)
      for (const key of fresh) again.set(key, utf8('a'))
      if (random.int(2) === 0) again.flush()
      for (const key of random.shuffle(fresh)) again.delete(key)
      expect(String(again.flush())).toBe(String(tree.root))

      // Take everything away and it is the empty tree.
      for (const [key] of random.shuffle(entries)) expect(again.delete(key)).toBe(true)
      expect(String(again.flush())).toBe(String(Hamt.empty(store, raw, tree.options).flush()))
    }
  })

  it('reads contract storage of the EVM only through its own kind of tree', () => {
    // Contracts use a KAMT, which this is not; their states are still read.
    const store = openShared('golden/nv28/chain.car.zst')
    const tree = StateTree.load(store, headHeader(store).parentStateRoot)
    expect(getCbor(store, evmState, (tree.getActor(1016n) as { head: Cid }).head).nonce).toBe(1n)
  })
})

describe('a tree', () => {
  it('agrees with a Map', () => {
    const random = seeded('HAMT against Map')
    for (const options of [{}, { bitWidth: 3 }, { bitWidth: 8 }, { bitWidth: 6, pointerMaps: true }]) {
      const store = new MemoryBlockstore(random.int(2) === 0 ? new NodeCache() : undefined)
      let hamt = Hamt.empty(store, uint, options)
      const map = new Map<string, [Uint8Array, number]>()
      for (let i = 0; i < 1500; i++) {
        const key = random.bytes(1 + random.int(2))
        if (random.int(3) === 0) {
          expect(hamt.delete(key)).toBe(map.delete(toHex(key)))
        } else {
          hamt.set(key, i)
          map.set(toHex(key), [key, i])
        }
        if (random.int(200) === 0) hamt = Hamt.load(store, hamt.flush(), uint, options)
      }
      for (const [key, value] of map.values()) expect(hamt.get(key)).toBe(value)
      expect([...hamt.entries()].length).toBe(map.size)
      let visited = 0
      hamt.forEach(() => {
        visited++
      })
      expect(visited).toBe(map.size)
      const fresh = Hamt.empty(store, uint, options)
      for (const [key, value] of random.shuffle([...map.values()])) fresh.set(key, value)
      expect(String(fresh.flush())).toBe(String(hamt.flush()))
    }
  })

  it('compares with another', () => {
    const random = seeded('HAMT diff')
    const store = new MemoryBlockstore(new NodeCache())
    const make = (): Map<string, [Uint8Array, number]> => {
      const map = new Map<string, [Uint8Array, number]>()
      for (let i = 0; i < 400; i++) {
        const key = Uint8Array.of(i >> 8, i & 255)
        if (random.int(3) > 0) map.set(toHex(key), [key, random.int(3)])
      }
      return map
    }
    const [a, b] = [make(), make()]
    const [x, y] = [a, b].map((map) => {
      const hamt = Hamt.empty(store, uint)
      for (const [key, value] of map.values()) hamt.set(key, value)
      return Hamt.load(store, hamt.flush(), uint)
    }) as [Hamt<number>, Hamt<number>]
    const found: string[] = []
    for (const one of x.diff(y)) {
      if (one === undefined) continue
      const [key, here, there] = one
      expect(here).toBe(a.get(toHex(key))?.[1])
      expect(there).toBe(b.get(toHex(key))?.[1])
      found.push(toHex(key))
    }
    const expected = [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key)?.[1] !== b.get(key)?.[1])
    expect(found.sort()).toEqual(expected.sort())
    const wanted = [...a.values(), ...b.values()].map(([key]) => key).filter((_, i) => i % 20 === 0)
    const among = new Set<string>()
    for (const one of x.diff(y, hashesOf(wanted))) {
      if (one !== undefined) among.add(toHex(one[0]))
    }
    expect(among.size).toBeLessThan(found.length / 2)
    expect([...among].filter((key) => !found.includes(key))).toEqual([])
    const names = new Set(wanted.map(toHex))
    expect([...among].filter((key) => names.has(key)).sort()).toEqual(found.filter((key) => names.has(key)))
  })

  it('finds the few differences of two large trees, also among those that are asked for', () => {
    const store = new MemoryBlockstore()
    const key = (i: number): Uint8Array => Uint8Array.of(i >> 8, i & 255)
    const tree = (changed: ReadonlySet<number>): Cid => {
      const hamt = Hamt.empty(store, uint)
      for (let i = 0; i < 5_000; i++) hamt.set(key(i), changed.has(i) ? 1 : 0)
      return hamt.flush()
    }
    const changed = new Set([7, 1_234, 4_321])
    const [before, after] = [tree(new Set()), tree(changed)]
    for (const among of [undefined, hashesOf([...changed].map(key))]) {
      const [x, y] = [before, after].map((root) => Hamt.load(store, root, uint)) as [Hamt<number>, Hamt<number>]
      const found = [...x.diff(y, among)].flatMap((one) => (one === undefined ? [] : [toHex(one[0])]))
      expect(found.sort()).toEqual([...changed].map((i) => toHex(key(i))).sort())
    }
  })

  it('writes nothing when a value stays the same', () => {
    const store = new MemoryBlockstore()
    const hamt = Hamt.empty(store, uint)
    for (let i = 0; i < 50; i++) hamt.set(utf8(`key ${i}`), i)
    const root = hamt.flush()
    const overlay = new OverlayBlockstore(store)
    const again = Hamt.load(overlay, root, uint)
    again.set(utf8('key 7'), 7)
    expect(String(again.flush())).toBe(String(root))
    expect(overlay.size).toBe(0)
  })

  it('is not followed below what the 256 bits of a hash lead to', () => {
    const store = new MemoryBlockstore()
    // Nodes with one link each, in the first slot, above one with an entry in another slot: 82 41 01 81 d82a5827 00… .
    const deep = (levels: number, value: number): Hamt<Uint8Array> => {
      let root = putBlock(store, fromHex(`824101818182410041${toHex(Uint8Array.of(value))}`))
      for (let level = 1; level < levels; level++) {
        root = putBlock(store, fromHex(`82410181d82a582700${toHex(root.bytes)}`))
      }
      return Hamt.load(store, root, bytes)
    }
    const differences = (a: Hamt<Uint8Array>, b: Hamt<Uint8Array>): number =>
      [...a.diff(b)].filter((one) => one !== undefined).length
    const entriesOf = (tree: Hamt<Uint8Array>): number => {
      let count = 0
      tree.forEach(() => void count++)
      return count
    }
    // Of 5 bits each.
    const levels = 51
    expect(entriesOf(deep(levels, 1))).toBe(1)
    expect(differences(deep(levels, 1), deep(levels, 2))).toBe(1)
    expect(differences(deep(levels, 1), deep(1, 2))).toBe(1)
    for (const more of [levels + 1, 10_000]) {
      const refused = 'no bits of the hash are left'
      const [one, two, small] = [deep(more, 1), deep(more, 2), deep(1, 2)]
      expect(() => entriesOf(one)).toThrow(refused)
      expect(() => differences(one, two)).toThrow(refused)
      expect(() => differences(one, small)).toThrow(refused)
      expect(() => differences(small, one)).toThrow(refused)
    }
  })

  it('names the block that is missing', () => {
    const store = new MemoryBlockstore()
    const hamt = Hamt.empty(store, uint)
    for (let i = 0; i < 50; i++) hamt.set(utf8(`key ${i}`), i)
    const root = hamt.flush()
    expect(() => Hamt.load(new MemoryBlockstore(), root, uint)).toThrow(BlockMissing)
  })

  /** CBOR of a bucket with these keys, each with the value 1. */
  const bucket = (...keys: readonly string[]): string =>
    `8${keys.length}${keys.map((key) => `8241${toHex(utf8(key))}01`).join('')}`
  const malformed: readonly (readonly [string, string])[] = [
    ['an array of three', '83408080'],
    ['a leading zero in the bit field', `8242000181${bucket('a')}`],
    ['more bits than pointers', `82410381${bucket('a')}`],
    ['fewer bits than pointers', `82410182${bucket('a')}${bucket('b')}`],
    ['an empty bucket', `82410181${bucket()}`],
    ['a bucket of four', `82410181${bucket('a', 'b', 'c', 'd')}`],
    ['a bucket out of order', `82410181${bucket('b', 'a')}`],
    ['the same key twice', `82410181${bucket('a', 'a')}`],
    ['a field wider than the node', `8245010000000081${bucket('a')}`],
    ['bytes behind the node', `82410181${bucket('a')}00`],
  ]
  it.each(malformed)('refuses %s', (_, hex) => {
    const store = new MemoryBlockstore()
    const root = putBlock(store, fromHex(hex))
    expect(() => Hamt.load(store, root, uint)).toThrow(PetrelError)
  })

  it('takes the same node without the fault', () => {
    const store = new MemoryBlockstore()
    const hamt = Hamt.load(store, putBlock(store, fromHex(`82410181${bucket('a')}`)), uint)
    expect([...hamt.entries()]).toEqual([[utf8('a'), 1]])
  })
})
