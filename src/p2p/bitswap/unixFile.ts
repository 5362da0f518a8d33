/**
 * A file of IPFS out of its blocks: a leaf of bytes, or vertices of dag-pb whose data are UnixFS'.
 * @see ipfs/specs UNIXFS.md; ipld/specs dag-pb; ipfs/boxo ipld/unixfs/pb/unixfs.proto
 */
import { type Cid, CODEC_DAG_PB, CODEC_RAW, cidFromBytes } from '../../codec/cid.ts'
import type { BlockSource } from '../../ipld/blockFetcher.ts'
import { P2pError } from '../errors.ts'
import { MAX_FILE_BLOCKS, MAX_FILE_DEPTH } from './limits.ts'
import { ProtoReader, WIRE_BYTES, WIRE_VARINT } from './protobuf.ts'

/** Blocks that are asked for at once: 8 MB of what IPFS cuts files into. */
const WINDOW = 32

// Field numbers of dag-pb's PBNode and PBLink, and of UnixFS' Data.
const NODE_DATA = 1
const NODE_LINKS = 2
const LINK_HASH = 1
const FILE_TYPE = 1
const FILE_DATA = 2
const TYPE_RAW = 0
const TYPE_FILE = 2

/** A vertex of a file: bytes of its own, then those of its children. */
interface Vertex {
  readonly data: Uint8Array
  readonly links: readonly Cid[]
}

/** How much of a file is read, and when to stop. */
export interface FileBounds {
  /** Most bytes that are taken. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Hears how many bytes are here. */
  readonly onProgress?: (bytes: number) => void
}

/**
 * Reads a whole file. Each block has been checked against its CID by the source ({@link startBitswap} computes CIDs from what
 * came).
 * @throws P2pError `NOT_FOUND` when nobody has a block, `MALFORMED` for what is no file, `TOO_LARGE`; the signal's reason
 */
export async function readUnixFile(source: BlockSource, root: Cid, bounds: FileBounds): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  let blocks = 0
  const walk = async (cids: readonly Cid[], depth: number): Promise<void> => {
    if (depth > MAX_FILE_DEPTH)
      throw new P2pError('MALFORMED', `Cannot read file ${root}: deeper than ${MAX_FILE_DEPTH}`)
    blocks += cids.length
    if (blocks > MAX_FILE_BLOCKS)
      throw new P2pError('TOO_LARGE', `Cannot read file ${root}: more than ${MAX_FILE_BLOCKS} blocks`)
    for (let i = 0; i < cids.length; i += WINDOW) {
      const window = cids.slice(i, i + WINDOW)
      const found = new Map((await source.fetch(window, bounds.signal)).map(([cid, bytes]) => [cid.key, bytes]))
      for (const cid of window) {
        const block = found.get(cid.key)
        if (block === undefined) throw new P2pError('NOT_FOUND', `Cannot read file ${root}: nobody has block ${cid}`)
        const { data, links } = vertexOf(cid, block)
        length += data.length
        if (length > bounds.maxBytes) {
          throw new P2pError('TOO_LARGE', `Cannot read file ${root}: more than ${bounds.maxBytes} bytes`)
        }
        parts.push(data)
        bounds.onProgress?.(length)
        if (links.length > 0) await walk(links, depth + 1)
      }
    }
  }
  await walk([root], 0)
  const out = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

function vertexOf(cid: Cid, block: Uint8Array): Vertex {
  if (cid.codec === CODEC_RAW) return { data: block, links: [] }
  if (cid.codec !== CODEC_DAG_PB) throw new P2pError('MALFORMED', `Cannot read file: ${cid} is no part of one`)
  const links: Cid[] = []
  let data: Uint8Array = new Uint8Array(0)
  const reader = new ProtoReader(block)
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (wire !== WIRE_BYTES) reader.skip(wire)
    else if (field === NODE_LINKS) links.push(linkOf(reader.bytes()))
    else if (field === NODE_DATA) data = fileData(cid, reader.bytes())
    else reader.skip(wire)
  }
  return { data, links }
}

function linkOf(bytes: Uint8Array): Cid {
  const reader = new ProtoReader(bytes)
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (wire === WIRE_BYTES && field === LINK_HASH) return cidFromBytes(reader.bytes())
    reader.skip(wire)
  }
  throw new P2pError('MALFORMED', 'Cannot read file: a link without its CID')
}

function fileData(cid: Cid, bytes: Uint8Array): Uint8Array {
  let type: number | undefined
  let data: Uint8Array = new Uint8Array(0)
  const reader = new ProtoReader(bytes)
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (wire === WIRE_VARINT && field === FILE_TYPE) type = reader.varint()
    else if (wire === WIRE_BYTES && field === FILE_DATA) data = reader.bytes()
    else reader.skip(wire)
  }
  if (type !== TYPE_FILE && type !== TYPE_RAW) {
    throw new P2pError('MALFORMED', `Cannot read file: ${cid} is a folder or something else (type ${type})`)
  }
  return data
}
