/** A file of IPFS out of blocks of strangers: vertices of dag-pb and leaves, each behind its length, the root first. */
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { type Cid, CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { tryGetBlock } from '../../src/ipld/blockstore.ts'
import { MAX_FILE_BLOCKS } from '../../src/p2p/bitswap/limits.ts'
import { readUnixFile } from '../../src/p2p/bitswap/unixFile.ts'
import { dagPbVertex, vertexCid } from '../support/dagPb.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { HostileBlocks } from './hostileBlocks.ts'

const MAX_BYTES = 100_000
const leaves = [1, 2].map((n) => blockCid(Uint8Array.of(n), CODEC_RAW))
const vertex = (text: string, links: readonly Cid[]): Uint8Array => dagPbVertex(utf8(text), links)
const ROOT = vertexCid(vertex('root', leaves))

const packed = (...blocks: readonly Uint8Array[]): Uint8Array =>
  concatBytes(...blocks.flatMap((block) => [Uint8Array.of(block.length >> 8, block.length & 0xff), block]))

let way = ''

/** No more is read, and nobody is asked for more, than is bounded. */
export const unixFile: FuzzTarget = {
  seeds: () => [
    packed(vertex('root', leaves), utf8('leaf'), utf8('other leaf')),
    packed(vertex('root', [vertexCid(vertex('inner', leaves)), ...leaves]), vertex('inner', leaves), utf8('leaf')),
    packed(vertex('whole', [])),
  ],
  run: async (input) => {
    const store = new HostileBlocks(input, ROOT)
    const { signal } = new AbortController()
    let asked = 0
    const source = {
      fetch: (cids: readonly Cid[]) => {
        asked += cids.length
        if (asked > MAX_FILE_BLOCKS) throw new Error(`asked for ${asked} blocks`)
        const found = cids.map((cid) => [cid, tryGetBlock(store, cid)] as const)
        return Promise.resolve(found.flatMap(([cid, data]) => (data === undefined ? [] : [[cid, data] as const])))
      },
    }
    const file = await readUnixFile(source, ROOT, { maxBytes: MAX_BYTES, signal })
    if (file.length > MAX_BYTES) throw new Error(`${file.length} bytes`)
    way = `${32 - Math.clz32(asked)} ${32 - Math.clz32(file.length)}`
  },
  way: () => way,
}
