import { describe, expect, it } from 'vitest'
import { fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { type Cid, CODEC_DAG_CBOR, CODEC_RAW, createCid, HASH_IDENTITY } from '../../src/codec/cid.ts'
import { cid, encode, list, text } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import {
  getBlock,
  getCbor,
  hasBlock,
  LayeredBlockstore,
  MemoryBlockstore,
  OverlayBlockstore,
  putBlock,
  putCbor,
} from '../../src/ipld/blockstore.ts'
import { BlockMissing, IpldError } from '../../src/ipld/errors.ts'
import { scanLinks } from '../../src/ipld/links.ts'
import { walkDag } from '../../src/ipld/walkDag.ts'
import { type BlockSource, withBlocks } from '../../src/ipld/withBlocks.ts'

const links = list(cid)

describe('stores', () => {
  it('name the block that is missing', () => {
    const store = new MemoryBlockstore()
    const unknown = blockCid(utf8('x'))
    expect(() => getBlock(store, unknown)).toThrow(BlockMissing)
    expect(() => getCbor(store, text, unknown)).toThrow(`could not find ${unknown}`)
  })

  it('find the content of an identity CID in the CID', () => {
    const name = createCid(CODEC_RAW, HASH_IDENTITY, utf8('fil/1/init'))
    expect(String(name)).toBe('bafkqactgnfwc6mjpnfxgs5a')
    expect(getBlock(new MemoryBlockstore(), name)).toEqual(utf8('fil/1/init'))
    expect(hasBlock(new MemoryBlockstore(), name)).toBe(true)
  })

  it('read through their layers and write to the first', () => {
    const [top, base] = [new MemoryBlockstore(), new MemoryBlockstore()]
    const below = putCbor(base, text, 'below')
    const layered = new LayeredBlockstore([top, base])
    expect(getCbor(layered, text, below)).toBe('below')
    const above = putCbor(layered, text, 'above')
    expect(top.has(above)).toBe(true)
    expect(base.has(above)).toBe(false)
  })

  it('flush what the root reaches, and nothing else', () => {
    const base = new MemoryBlockstore()
    const old = putCbor(base, text, 'old')
    const overlay = new OverlayBlockstore(base)
    const leaf = putBlock(overlay, utf8('raw bytes'), CODEC_RAW)
    const inner = putCbor(overlay, links, [leaf, old])
    const root = putCbor(overlay, links, [inner, leaf, inner])
    const stray = putCbor(overlay, text, 'stray')
    overlay.flush(root)
    for (const one of [leaf, inner, root]) expect(base.has(one)).toBe(true)
    expect(base.has(stray)).toBe(false)
    expect(overlay.has(stray)).toBe(true)
    overlay.discard()
    expect(overlay.has(stray)).toBe(false)
  })

  it('flush blocks with links whose codes have 64 bits: a verified client may put such a commitment into a claim', () => {
    const base = new MemoryBlockstore()
    const overlay = new OverlayBlockstore(base)
    const leaf = putCbor(overlay, text, 'leaf')
    for (const hashCode of ['8080808080808010', `${'80'.repeat(9)}01`]) {
      const commitment = `d82a58${(6 + hashCode.length / 2 + 32).toString(16)}000181e203${hashCode}20${'07'.repeat(32)}`
      const link = toHex(encode(cid, leaf))
      const root = putBlock(overlay, fromHex(`82${commitment}${link}`), CODEC_DAG_CBOR)
      overlay.flush(root)
      expect([base.has(root), base.has(leaf)]).toEqual([true, true])
      const seen: string[] = []
      walkDag(base, root, (one) => seen.push(String(one)))
      expect(seen).toEqual([String(root), String(leaf)])
    }
  })

  it('are walked a block before its children, each once', () => {
    const store = new MemoryBlockstore()
    const [a, b] = [putCbor(store, text, 'a'), putCbor(store, text, 'b')]
    const inner = putCbor(store, links, [a, b])
    const root = putCbor(store, links, [inner, b, a])
    const seen: string[] = []
    walkDag(store, root, (one) => seen.push(String(one)))
    expect(seen).toEqual([root, inner, a, b].map(String))
  })

  it('find links in any CBOR, nested or not', () => {
    const [a, b] = [blockCid(utf8('a')), blockCid(utf8('b'))]
    const store = new MemoryBlockstore()
    const data = getBlock(store, createCid(CODEC_RAW, HASH_IDENTITY, new Uint8Array(0)))
    expect(() => scanLinks(data)).toThrow('unexpected EOF')
    const root = putCbor(store, list(links), [[a], [], [b, a]])
    expect(scanLinks(getBlock(store, root)).map(String)).toEqual([a, b, a].map(String))
    // Huge counts are refused before anything is allocated.
    expect(() => scanLinks(Uint8Array.of(0x9b, 0, 0, 0, 1, 0, 0, 0, 0))).toThrow('unexpected EOF')
  })
})

describe('withBlocks', () => {
  function chain(length: number): { blocks: MemoryBlockstore; root: Cid } {
    const blocks = new MemoryBlockstore()
    let root = putCbor(blocks, links, [])
    for (let i = 1; i < length; i++) root = putCbor(blocks, links, [root])
    return { blocks, root }
  }

  function sourceOf(blocks: MemoryBlockstore, asked: number[] = []): BlockSource {
    return {
      fetch: (cids) => {
        asked.push(cids.length)
        return Promise.resolve(
          cids.flatMap((one) => {
            const data = blocks.get(one)
            return data === undefined ? [] : [[one, data] as const]
          }),
        )
      },
    }
  }

  const depth = (store: { get(cid: Cid): Uint8Array | undefined }, root: Cid): number => {
    let count = 0
    walkDag(store as MemoryBlockstore, root, () => count++)
    return count
  }

  it('runs again until nothing is missing, and keeps what it fetched', async () => {
    const { blocks, root } = chain(20)
    const store = new MemoryBlockstore()
    const asked: number[] = []
    let runs = 0
    const count = await withBlocks(
      { store, sources: [sourceOf(new MemoryBlockstore()), sourceOf(blocks, asked)] },
      (view) => {
        runs++
        return depth(view, root)
      },
    )
    expect(count).toBe(20)
    expect(runs).toBe(21)
    expect(asked.length).toBe(20)
    expect(store.size).toBe(20)
  })

  it('does not depend on the store keeping blocks', async () => {
    const { blocks, root } = chain(10)
    const forgetful = { get: () => undefined, has: () => false, put: () => undefined }
    await expect(
      withBlocks({ store: forgetful, sources: [sourceOf(blocks)] }, (view) => depth(view, root)),
    ).resolves.toBe(10)
  })

  it('says what nobody has', async () => {
    const { root } = chain(3)
    const run = withBlocks({ store: new MemoryBlockstore(), sources: [sourceOf(new MemoryBlockstore())] }, (view) =>
      depth(view, root),
    )
    await expect(run).rejects.toThrow(BlockMissing)
  })

  it('refuses a block that is not what was asked for', async () => {
    const { root } = chain(3)
    const liar: BlockSource = { fetch: (cids) => Promise.resolve(cids.map((one) => [one, utf8('lie')] as const)) }
    const run = withBlocks({ store: new MemoryBlockstore(), sources: [liar] }, (view) => depth(view, root))
    await expect(run).rejects.toThrow('hash to something else')
  })

  it('ends when it is told to, and when it makes no progress', async () => {
    const { blocks, root } = chain(5)
    const signal = AbortSignal.abort(new IpldError('NO_PROGRESS', 'stopped'))
    const store = new MemoryBlockstore()
    await expect(
      withBlocks({ store, sources: [sourceOf(blocks)], signal }, (view) => depth(view, root)),
    ).rejects.toThrow('stopped')
    await expect(
      withBlocks({ store, sources: [sourceOf(blocks)], maxRuns: 2 }, (view) => depth(view, root)),
    ).rejects.toThrow('still missing after 2 runs')
  })

  it('passes other errors on', async () => {
    const run = withBlocks({ store: new MemoryBlockstore(), sources: [] }, () => {
      throw new IpldError('OUT_OF_RANGE', 'mine')
    })
    await expect(run).rejects.toThrow('mine')
  })
})
