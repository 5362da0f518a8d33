/** Files of IPFS out of their blocks: how they are put together, how deep and of how many blocks they may be. */
import { beforeAll, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { type Cid, CODEC_DAG_PB, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { BlockSource } from '../../src/ipld/blockFetcher.ts'
import { MAX_FILE_BLOCKS, MAX_FILE_DEPTH } from '../../src/p2p/bitswap/limits.ts'
import { ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'
import { readUnixFile } from '../../src/p2p/bitswap/unixFile.ts'

beforeAll(() => initCrypto())

/** @see ipfs/boxo ipld/unixfs/pb/unixfs.proto Data.DataType */
const FOLDER = 1
const FILE = 2

/** Blocks by their CIDs, and how many were asked for. */
class Blocks implements BlockSource {
  readonly #blocks = new Map<string, readonly [Cid, Uint8Array]>()
  asked = 0

  add(block: Uint8Array, codec: number): Cid {
    const cid = blockCid(block, codec)
    this.#blocks.set(cid.key, [cid, block])
    return cid
  }

  leaf(text: string): Cid {
    return this.add(utf8(text), CODEC_RAW)
  }

  /** @see ipld/specs dag-pb: PBNode is its links (2), then its data (1); PBLink is Hash (1), Name (2), Tsize (3) */
  vertex(links: readonly Cid[], text = '', type = FILE): Cid {
    const data = new ProtoWriter()
    data.number(1, type)
    if (text !== '') data.bytes(2, utf8(text))
    const node = new ProtoWriter()
    for (const cid of links) {
      const link = new ProtoWriter()
      link.bytes(1, cid.bytes)
      link.bytes(2, new Uint8Array(0))
      link.number(3, 1)
      node.bytes(2, link.finish())
    }
    node.bytes(1, data.finish())
    return this.add(node.finish(), CODEC_DAG_PB)
  }

  async fetch(cids: readonly Cid[]): Promise<(readonly [Cid, Uint8Array])[]> {
    this.asked += cids.length
    return cids.map(({ key }) => this.#blocks.get(key)).filter((block) => block !== undefined)
  }
}

function read(blocks: Blocks, root: Cid, maxBytes = 1000): Promise<Uint8Array> {
  return readUnixFile(blocks, root, { maxBytes, signal: new AbortController().signal })
}

it('a tree: what a vertex has of its own, then its children in order', async () => {
  const blocks = new Blocks()
  const left = blocks.vertex([blocks.leaf('ice'), blocks.leaf('berg')], 'an ')
  const root = blocks.vertex([left, blocks.leaf(' ahead')])
  const heard: number[] = []
  const bounds = {
    maxBytes: 16,
    signal: new AbortController().signal,
    onProgress: (bytes: number) => heard.push(bytes),
  }
  expect(await readUnixFile(blocks, root, bounds)).toEqual(utf8('an iceberg ahead'))
  expect(heard).toEqual([0, 3, 6, 10, 16])
  await expect(read(blocks, root, 15)).rejects.toMatchObject({ code: 'TOO_LARGE' })
})

it.each([
  ['nobody has', 'NOT_FOUND', (blocks: Blocks) => blocks.vertex([new Blocks().leaf('gone')])],
  ['is a folder', 'MALFORMED', (blocks: Blocks) => blocks.vertex([], '', FOLDER)],
  ['is of another kind', 'MALFORMED', (blocks: Blocks) => blocks.add(Uint8Array.of(0xf6), 0x71)],
  ['has a link to nothing', 'MALFORMED', (blocks: Blocks) => blocks.add(Uint8Array.of(0x12, 0), CODEC_DAG_PB)],
])('a block that %s: %s', async (_, code, make) => {
  const blocks = new Blocks()
  await expect(read(blocks, make(blocks))).rejects.toMatchObject({ code })
})

it('a tree as deep as may be is read, a deeper one not', async () => {
  const blocks = new Blocks()
  let root = blocks.leaf('leaf')
  for (let depth = 0; depth < MAX_FILE_DEPTH; depth++) root = blocks.vertex([root])
  expect(await read(blocks, root)).toEqual(utf8('leaf'))
  const deeper = blocks.vertex([root])
  await expect(read(blocks, deeper)).rejects.toMatchObject({
    code: 'MALFORMED',
    message: `Cannot read file ${deeper}: deeper than ${MAX_FILE_DEPTH}`,
  })
})

it('so many blocks are read; of a file of more it ends at the first that is one too many', async () => {
  const blocks = new Blocks()
  const leaf = blocks.leaf('.')
  /** A root of 255 vertices, which have the rest among them. */
  const fileOf = (count: number): Cid => {
    const vertices = 255
    const leaves = count - 1 - vertices
    const each = Math.floor(leaves / vertices)
    const full = blocks.vertex(new Array<Cid>(each).fill(leaf))
    const last = blocks.vertex(new Array<Cid>(leaves - each * (vertices - 1)).fill(leaf))
    return blocks.vertex([...new Array<Cid>(vertices - 1).fill(full), last])
  }
  const most = await read(blocks, fileOf(MAX_FILE_BLOCKS), MAX_FILE_BLOCKS)
  expect(most).toEqual(new Uint8Array(MAX_FILE_BLOCKS - 256).fill(46))
  expect(blocks.asked).toBe(MAX_FILE_BLOCKS)
  const longer = fileOf(MAX_FILE_BLOCKS + 1)
  await expect(read(blocks, longer, MAX_FILE_BLOCKS)).rejects.toMatchObject({
    code: 'TOO_LARGE',
    message: `Cannot read file ${longer}: more than ${MAX_FILE_BLOCKS} blocks`,
  })
  // The last vertex' leaves would have made it more: none of them was asked for.
  expect(blocks.asked).toBeLessThan(2 * MAX_FILE_BLOCKS - 200)
})
