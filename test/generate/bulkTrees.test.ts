import { describe, expect, it } from 'vitest'
import { BulkAmt } from '../../scripts/generate/mainnetSize/bulkAmt.ts'
import { bulkHamt, sortedHamt } from '../../scripts/generate/mainnetSize/bulkHamt.ts'
import { type StoragePair, writeKamt } from '../../scripts/generate/mainnetSize/kamt.ts'
import { CborReader } from '../../src/codec/cborReader.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { encode, uint } from '../../src/codec/description.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { type Blockstore, getBlock, getCbor, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { evmState } from '../../src/state/evm.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { headHeader, openGolden } from '../support/archives.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'

const WORD = 32

function padded(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(WORD)
  out.set(bytes, WORD - bytes.length)
  return out
}

/** All pairs of a KAMT, read without the writer's knowledge of bits: a pair has its whole key. */
function readPairs(store: Blockstore, root: Cid, out: StoragePair[] = []): StoragePair[] {
  const reader = new CborReader(getBlock(store, root))
  reader.readArray()
  reader.readBytes()
  for (let pointers = reader.readArray(); pointers > 0; pointers--) {
    reader.readMap()
    if (reader.readText() === 'v') {
      for (let pairs = reader.readArray(); pairs > 0; pairs--) {
        reader.readArray()
        out.push([padded(reader.readBytes()), padded(reader.readBytes())])
      }
    } else {
      reader.readArray()
      readPairs(store, reader.readCid(), out)
      reader.readUintNumber()
      reader.readBytes()
    }
  }
  return out
}

describe('trees that are built in order', () => {
  it('a map has the root that Hamt gives it, at every size', () => {
    const random = seeded('bulk HAMT')
    for (const [count, bitWidth] of [
      [0, 5],
      [1, 5],
      [3, 6],
      [4, 3],
      [200, 3],
      [5000, 5],
      [5000, 6],
    ] as const) {
      const store = new MemoryBlockstore()
      const entries = Array.from({ length: count }, () => [random.bytes(9), random.int(1000)] as const)
      const tree = Hamt.empty(store, uint, { bitWidth })
      for (const [key, value] of entries) tree.set(key, value)
      const raw = entries.map(([key, value]) => [key, encode(uint, value)] as const)
      expect(sortedHamt(store, raw, bitWidth).toString()).toBe(tree.flush().toString())
    }
  })

  it('a map refuses entries out of order', () => {
    const entry = (byte: number): { hash: Uint8Array; key: Uint8Array; raw: Uint8Array } => ({
      hash: new Uint8Array(WORD).fill(byte),
      key: Uint8Array.of(byte),
      raw: Uint8Array.of(0),
    })
    expect(() => bulkHamt(new MemoryBlockstore(), [entry(2), entry(1)])).toThrow('order of their hashes')
  })

  it('an array has the root that Amt gives it, with holes and without', () => {
    const random = seeded('bulk AMT')
    for (const [count, gap, bitWidth] of [
      [0, 1, 5],
      [1, 1, 3],
      [8, 1, 3],
      [9, 1, 3],
      [5000, 1, 5],
      [700, 40, 3],
      [30, 5000, 6],
      [1, 900_000, 4],
    ] as const) {
      const store = new MemoryBlockstore()
      const bulk = new BulkAmt(store, uint, bitWidth)
      const plain = Amt.empty(store, uint, { bitWidth })
      let index = gap > 1 ? random.int(gap) : 0
      for (let i = 0; i < count; i++, index += 1 + random.int(gap)) {
        bulk.add(index, i)
        plain.set(index, i)
      }
      expect(bulk.finish().toString()).toBe(plain.flush().toString())
    }
  })

  const withContracts = ['nv28', 'nv28-depth', 'up-24-28']
  it.skipIf(missingShared('data/golden/nv28') !== undefined)(
    "contracts' storage has the roots that the actors gave it on Lotus' chains",
    () => {
      let linked = 0
      let slots = 0
      for (const chain of withContracts) {
        const { store, network } = openGolden(chain)
        const codes = new Set(network.manifests.map(({ actors }) => actors.get('evm')?.toString()))
        StateTree.load(store, headHeader(store).parentStateRoot).forEach((_, actor) => {
          if (!codes.has(actor.code.toString())) return
          const root = getCbor(store, evmState, actor.head).contractState
          const pairs = readPairs(store, root)
          const written = new MemoryBlockstore()
          expect(writeKamt(written, pairs).toString()).toBe(root.toString())
          slots += pairs.length
          if (written.size > 1) linked++
        })
      }
      console.log(`${slots} slots, ${linked} storages of several nodes`)
      expect(slots).toBeGreaterThan(0)
    },
  )
})
