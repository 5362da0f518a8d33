/** What every {@link Blockstore} that takes writes must do. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'

/** A store, and how it is given up and opened again. */
export interface OpenBlockstore {
  readonly blocks: Blockstore
  close(): Promise<void>
  reopen?(): Promise<OpenBlockstore>
}

/** Declares the suite. */
export function blockstoreContract(name: string, open: () => Promise<OpenBlockstore>): void {
  describe(`block store: ${name}`, () => {
    let opened: OpenBlockstore
    const data = utf8('a block')
    const cid = blockCid(data)

    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    it('gives back what was put, and nothing else', () => {
      const { blocks } = opened
      expect(blocks.get(cid)).toBeUndefined()
      expect(blocks.has(cid)).toBe(false)
      blocks.put(cid, data)
      expect(blocks.get(cid)).toEqual(data)
      expect(blocks.has(cid)).toBe(true)
      expect(blocks.has(blockCid(utf8('another')))).toBe(false)
    })

    it('gives plain arrays that stay as they are', async () => {
      const others = Array.from({ length: 100 }, (_, i) => utf8(`block ${i}`))
      opened.blocks.put(cid, data)
      for (const other of others) opened.blocks.put(blockCid(other), other)
      if (opened.reopen !== undefined) opened = await opened.reopen()
      const first = opened.blocks.get(cid) as Uint8Array
      expect(Object.getPrototypeOf(first)).toBe(Uint8Array.prototype)
      for (const other of others) expect(opened.blocks.get(blockCid(other))).toEqual(other)
      expect(first).toEqual(data)
    })

    it('keeps many blocks', async () => {
      const blocks = Array.from({ length: 500 }, (_, i) => new Uint8Array(30_000).fill(i % 256).fill(i >> 8, 0, 1))
      const cids = blocks.map((block) => blockCid(block))
      for (const [i, block] of blocks.entries()) opened.blocks.put(cids[i]!, block)
      if (opened.reopen !== undefined) opened = await opened.reopen()
      for (const [i, block] of blocks.entries()) {
        const got = opened.blocks.get(cids[i]!) as Uint8Array
        expect([got.length, got[0], got[1]]).toEqual([block.length, block[0], block[1]])
      }
    })
  })
}
