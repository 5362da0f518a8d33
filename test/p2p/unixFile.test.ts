/** Files of IPFS out of their blocks: how they are put together, how deep and of how many blocks they may be. */
import { beforeAll, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { type Cid, CODEC_DAG_PB, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { BlockSource } from '../../src/ipld/blockFetcher.ts'
import { MAX_FILE_BLOCKS, MAX_FILE_DEPTH } from '../../src/p2p/bitswap/limits.ts'
import { readUnixFile } from '../../src/p2p/bitswap/unixFile.ts'
import { dagPbVertex, UNIX_FILE, UNIX_FOLDER } from '../support/dagPb.ts'

beforeAll(() => initCrypto())

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

  vertex(links: readonly Cid[], text = '', type = UNIX_FILE): Cid {
    return this.add(dagPbVertex(utf8(text), links, type), CODEC_DAG_PB)
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
  ['is a folder', 'MALFORMED', (blocks: Blocks) => blocks.vertex([], '', UNIX_FOLDER)],
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
