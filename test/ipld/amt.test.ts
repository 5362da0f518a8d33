import { describe, expect, it } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { bytes, type Codec, encode, uint } from '../../src/codec/description.ts'
import { Amt, type AmtOptions, amtOf } from '../../src/ipld/amt.ts'
import { AmtNode, putNode, putRoot } from '../../src/ipld/amtNode.ts'
import { getCbor, MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { BlockMissing, IpldError } from '../../src/ipld/errors.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { marketState } from '../../src/state/market.ts'
import { minerState } from '../../src/state/miner.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { msgMeta } from '../../src/types/msgMeta.ts'
import { receiptV1 } from '../../src/types/receipt.ts'
import { headHeader, openShared } from '../support/archives.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'

const raw: Codec<Uint8Array> = {
  ...bytes,
  write: (writer, value) => writer.raw(value),
  read: (reader) => reader.readRaw(),
}

const V0: AmtOptions = { v0: true }

/** AMT roots of a recorded chain: messages and receipts of every block, events, deals, sectors. */
function roots(): { name: string; root: Cid; v0: boolean }[] {
  const store = openShared('golden/nv28/chain.car.zst')
  const found = new Map<string, { name: string; root: Cid; v0: boolean }>()
  const add = (name: string, root: Cid, v0: boolean): void => {
    found.set(`${root}${v0}`, { name, root, v0 })
  }
  let key = store.roots
  for (let header = headHeader(store); header.height > 0; header = getCbor(store, blockHeader, key[0] as Cid)) {
    for (const cid of key) {
      const block = getCbor(store, blockHeader, cid)
      const meta = getCbor(store, msgMeta, block.messages)
      add('BLS messages', meta.blsMessages, true)
      add('secp256k1 messages', meta.secpkMessages, true)
    }
    add('receipts', header.parentMessageReceipts, true)
    for (const receipt of Amt.load(store, header.parentMessageReceipts, receiptV1, V0).values()) {
      if (receipt.eventsRoot !== null) add('events', receipt.eventsRoot, false)
    }
    key = header.parents
  }
  const tree = StateTree.load(store, headHeader(store).parentStateRoot)
  const market = getCbor(store, marketState, (tree.getActor(5n) as { head: Cid }).head)
  add('proposals', market.proposals, false)
  add('deal states', market.states, false)
  const miner = getCbor(store, minerState, (tree.getActor(1000n) as { head: Cid }).head)
  add('sectors', miner.sectors, false)
  return [...found.values()]
}

describe.skipIf(missingShared('data/golden/nv28/chain.car.zst') !== undefined)('trees of a real chain', () => {
  it('come out again from their entries in any order', () => {
    const random = seeded('AMT of nv28')
    const source = openShared('golden/nv28/chain.car.zst')
    const all = roots()
    expect(all.length).toBeGreaterThan(100)
    for (const { name, root, v0 } of all) {
      const known = Amt.load(source, root, raw, { v0 })
      const options: AmtOptions = v0 ? V0 : { bitWidth: known.bitWidth }
      const entries = [...known.entries()]
      expect(entries.length, name).toBe(known.count)
      const store = new MemoryBlockstore(random.int(2) === 0 ? new NodeCache() : undefined)
      const built = Amt.empty(store, raw, options)
      for (const [index, value] of random.shuffle(entries)) built.set(index, value)
      expect(String(built.flush()), name).toBe(String(root))

      const again = Amt.load(store, root, raw, options)
      const extra = Array.from({ length: 10 }, () => 1000 + random.int(100_000))
      for (const index of extra) again.set(index, Uint8Array.of(0xf6))
      if (random.int(2) === 0) again.flush()
      for (const index of new Set(extra)) expect(again.delete(index)).toBe(true)
      expect(String(again.flush()), name).toBe(String(root))
    }
  })
})

describe('a tree', () => {
  it('has the known root when it is empty', () => {
    // The receipts of mainnet's genesis.
    const root = Amt.empty(new MemoryBlockstore(), uint, V0).flush()
    expect(String(root)).toBe('bafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6')
  })

  it('agrees with a Map', () => {
    const random = seeded('AMT against Map')
    for (const options of [V0, { bitWidth: 1 }, { bitWidth: 3 }, { bitWidth: 6 }]) {
      const store = new MemoryBlockstore(random.int(2) === 0 ? new NodeCache() : undefined)
      let amt = Amt.empty(store, uint, options)
      const map = new Map<number, number>()
      for (let i = 0; i < 1500; i++) {
        const index = random.int(10 ** (1 + random.int(6)))
        if (random.int(3) === 0) {
          expect(amt.delete(index)).toBe(map.delete(index))
        } else {
          amt.set(index, i)
          map.set(index, i)
        }
        expect(amt.count).toBe(map.size)
        if (random.int(200) === 0) amt = Amt.load(store, amt.flush(), uint, options)
      }
      const sorted = [...map].sort(([a], [b]) => a - b)
      expect([...amt.entries()]).toEqual(sorted)
      expect(amt.values()).toEqual(sorted.map(([, value]) => value))
      for (const [index, value] of map) expect(amt.get(index)).toBe(value)
      const fresh = Amt.empty(store, uint, options)
      for (const [index, value] of random.shuffle(sorted)) fresh.set(index, value)
      expect(String(fresh.flush())).toBe(String(amt.flush()))
      for (const [index] of random.shuffle(sorted)) amt.delete(index)
      expect(String(amt.flush())).toBe(String(Amt.empty(store, uint, options).flush()))
    }
  })

  it('finds what another implementation put behind 2^53', () => {
    const store = new MemoryBlockstore()
    const index = 2n ** 62n + 2n ** 53n + 37n
    const place = (height: number): number => Number((index >> BigInt(5 * height)) & 31n)
    const at = <T>(height: number, entry: T): (T | undefined)[] =>
      Array.from({ length: 32 }, (_, i) => (i === place(height) ? entry : undefined))
    let node = new AmtNode(undefined, at(0, { raw: encode(uint, 7), value: 7, codec: uint }), undefined)
    for (let height = 1; height <= 12; height++) {
      node = new AmtNode(at(height, { ...putNode(store, node, 5), node: undefined }), undefined, undefined)
    }
    const root = putRoot(store, { bitWidth: 5, height: 12, count: 1, node }, false)
    const amt = Amt.load(store, root, uint, { bitWidth: 5 })
    expect(amt.get(index)).toBe(7)
    for (const other of [index - 1n, index + 1n, 2n ** 53n + 37n, 2n ** 64n - 1n])
      expect(amt.get(other)).toBeUndefined()
    expect(amt.values()).toEqual([7])
  })

  it('takes indices up to 2^53-1 and no others', () => {
    const store = new MemoryBlockstore()
    const amt = Amt.empty(store, uint, { bitWidth: 5 })
    amt.set(Number.MAX_SAFE_INTEGER, 1)
    amt.set(0, 2)
    const again = Amt.load(store, amt.flush(), uint)
    expect(again.get(Number.MAX_SAFE_INTEGER)).toBe(1)
    expect([...again.entries()]).toEqual([
      [0, 2],
      [Number.MAX_SAFE_INTEGER, 1],
    ])
    for (const index of [-1, 0.5, Number.MAX_SAFE_INTEGER + 1]) expect(() => again.get(index)).toThrow(IpldError)
  })

  it.each([V0, { bitWidth: 1 }, {}, { bitWidth: 5 }])(
    'is the same from a list, with the same blocks: %o',
    (options) => {
      for (const length of [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 65, 512, 513, 1024, 1025]) {
        const [one, two] = [new MemoryBlockstore(), new MemoryBlockstore()]
        const amt = Amt.empty(one, uint, options)
        for (let i = 0; i < length; i++) amt.set(i, i * i)
        const values = Array.from({ length }, (_, i) => i * i)
        const root = amtOf(two, uint, values, options)
        expect(String(root), `${length}`).toBe(String(amt.flush()))
        expect(two.size).toBe(one.size)
        expect(Amt.load(two, root, uint, options).values()).toEqual(values)
      }
    },
  )

  it('writes each node of a list when it is full', () => {
    let [encoded, most] = [0, 0]
    const counted: Codec<number> = {
      ...uint,
      write: (writer, value) => {
        encoded++
        uint.write(writer, value)
      },
    }
    const store = new (class extends MemoryBlockstore {
      override put(cid: Cid, data: Uint8Array): void {
        most = Math.max(most, encoded)
        encoded = 0
        super.put(cid, data)
      }
    })()
    amtOf(
      store,
      counted,
      Array.from({ length: 3000 }, (_, i) => i),
      { bitWidth: 5 },
    )
    expect(most).toBe(32)
  })

  const LINK = `d82a58270001${'71a0e40220'.padEnd(74, '0')}`
  const malformed: readonly (readonly [string, string])[] = [
    ['a root of four fields', '84030000' + '834100' + '8080'],
    ['a bitmap of two bytes', '830000' + '83420000' + '8080'],
    ['more bits than values', '830001' + '834103' + '808101'],
    ['fewer bits than values', '830002' + '834101' + '80820101'],
    ['links and values', `83000283410381${LINK}8101`],
    ['links at height 0', `83000183410181${LINK}80`],
    ['values above height 0', '830101' + '834101' + '808101'],
    ['a height of 64', `8318400183410181${LINK}80`],
    ['bytes behind the root', '830001' + '834101' + '808101' + '00'],
  ]
  it.each(malformed)('refuses %s', (_, hex) => {
    const store = new MemoryBlockstore()
    const root = putBlock(store, fromHex(hex))
    expect(() => Amt.load(store, root, uint, V0)).toThrow(PetrelError)
  })

  it('takes the same root without the fault', () => {
    const store = new MemoryBlockstore()
    expect(Amt.load(store, putBlock(store, fromHex('830001' + '834101' + '808101')), uint, V0).get(0)).toBe(1)
    const above = Amt.load(store, putBlock(store, fromHex(`83010183410181${LINK}80`)), uint, V0)
    expect(() => above.get(0)).toThrow(BlockMissing)
  })
})
