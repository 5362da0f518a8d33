/** What every {@link CollectableBlocks} must do, besides the suite of block stores. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import type { CollectableBlocks } from '../../src/ipld/collectable.ts'

/** A store, how its puts reach the disk, and how it is given up. */
export interface OpenCollectable {
  readonly blocks: CollectableBlocks
  commit(): void
  close(): Promise<void>
}

/** Declares the suite. */
export function collectableContract(name: string, open: () => Promise<OpenCollectable>): void {
  describe(`collectable blocks: ${name}`, () => {
    let opened: OpenCollectable
    const all = Array.from({ length: 25 }, (_, i) => utf8(`${i % 10} block ${i}`))
    const cids = all.map((data) => blockCid(data))

    beforeEach(async () => {
      opened = await open()
      for (const [i, data] of all.entries()) opened.blocks.put(cids[i] as Cid, data)
      opened.commit()
    })
    afterEach(() => opened.close())

    const scan = (limit: number): string[] => {
      const found: string[] = []
      for (let after: Cid | undefined; ; ) {
        const page = opened.blocks.scan(after, limit)
        found.push(...page.map((cid) => cid.key))
        if (page.length < limit) return found
        after = page.at(-1)
      }
    }

    it('lists all blocks in order, in pages of any length', () => {
      const expected = cids.map((cid) => cid.key).sort()
      for (const limit of [1, 5, 7, 25, 100]) expect(scan(limit)).toEqual(expected)
    })

    it('tells the first byte', () => {
      for (const [i, cid] of cids.entries()) expect(opened.blocks.firstByte(cid)).toBe(all[i]?.[0])
      expect(opened.blocks.firstByte(blockCid(utf8('none')))).toBeUndefined()
      const empty = blockCid(new Uint8Array(0))
      opened.blocks.put(empty, new Uint8Array(0))
      opened.commit()
      expect(opened.blocks.firstByte(empty)).toBeUndefined()
      expect(opened.blocks.has(empty)).toBe(true)
    })

    it('deletes what it is told to, also while it is listed', () => {
      const gone = cids.slice(0, 10)
      opened.blocks.deleteAll([...gone, blockCid(utf8('none'))])
      for (const cid of gone) expect([opened.blocks.has(cid), opened.blocks.get(cid)]).toEqual([false, undefined])
      for (const [i, cid] of cids.slice(10).entries()) expect(opened.blocks.get(cid)).toEqual(all[i + 10])
      expect(scan(4).length).toBe(15)
      const [first] = opened.blocks.scan(undefined, 1)
      opened.blocks.deleteAll([first as Cid])
      expect(opened.blocks.scan(first, 100).length).toBe(14)
    })

    it('says every put, of known blocks too, until it is told to stop', () => {
      const heard: string[] = []
      const end = opened.blocks.onPut((cid) => heard.push(cid.key))
      const data = utf8('new')
      opened.blocks.put(blockCid(data), data)
      opened.blocks.put(blockCid(data), data)
      opened.blocks.put(cids[0] as Cid, all[0] as Uint8Array)
      end()
      opened.blocks.put(cids[1] as Cid, all[1] as Uint8Array)
      expect(heard).toEqual([blockCid(data).key, blockCid(data).key, cids[0]?.key])
    })

    it('does not lose a block that is put again after it was deleted', () => {
      const [cid] = cids as [Cid]
      opened.blocks.deleteAll([cid])
      opened.blocks.put(cid, all[0] as Uint8Array)
      expect(opened.blocks.get(cid)).toEqual(all[0])
      opened.commit()
      expect(opened.blocks.get(cid)).toEqual(all[0])
    })
  })
}
