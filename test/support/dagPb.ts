/** Vertices of files of IPFS. @see ipld/specs dag-pb; ipfs/specs UNIXFS.md */
import { type Cid, CODEC_DAG_PB } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'

// Field numbers of PBNode, PBLink and Data.
const [DATA, LINKS, HASH, TYPE, BYTES] = [1, 2, 1, 1, 2]
/** Types of UnixFS. */
export const UNIX_FOLDER = 1
export const UNIX_FILE = 2

/** A vertex with bytes of its own, and links to its children. */
export function dagPbVertex(own: Uint8Array, links: readonly Cid[], type: number = UNIX_FILE): Uint8Array {
  const [data, node] = [new ProtoWriter(), new ProtoWriter()]
  data.number(TYPE, type)
  data.bytes(BYTES, own)
  for (const cid of links) {
    const link = new ProtoWriter()
    link.bytes(HASH, cid.bytes)
    node.bytes(LINKS, link.finish())
  }
  node.bytes(DATA, data.finish())
  return node.finish()
}

/** The CID of a vertex. */
export function vertexCid(vertex: Uint8Array): Cid {
  return blockCid(vertex, CODEC_DAG_PB)
}
