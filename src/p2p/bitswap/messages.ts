/**
 * Bitswap's message, and how each version of the protocol writes it.
 * @see ipfs/specs BITSWAP.md; forest proto/bitswap_pb.proto
 */
import { toHex } from '../../base/bytes.ts'
import { type Cid, cidFromBytes, createCid, HASH_BLAKE2B_256, HASH_SHA2_256 } from '../../codec/cid.ts'
import { readVarint } from '../../codec/varint.ts'
import { blake2b256 } from '../../crypto/blake2b.ts'
import { sha256 } from '../../crypto/hashes.ts'
import { P2pError } from '../errors.ts'
import { MAX_ENTRIES, MAX_MESSAGE_BLOCKS } from './limits.ts'
import { ProtoReader, ProtoWriter, WIRE_BYTES, WIRE_VARINT } from './protobuf.ts'

/** What nodes of IPFS speak among themselves, newest first. */
export const IPFS_BITSWAP_PROTOCOLS: readonly string[] = [
  '/ipfs/bitswap/1.2.0',
  '/ipfs/bitswap/1.1.0',
  '/ipfs/bitswap/1.0.0',
  '/ipfs/bitswap',
]

/** The same under the prefix of Filecoin's nodes. @see lotus node/modules/chain.go ChainBitswap */
export const BITSWAP_PROTOCOLS: readonly string[] = IPFS_BITSWAP_PROTOCOLS.map((name) => `/chain${name}`)

/** One line of a wantlist. */
export interface Want {
  readonly cid: Cid
  readonly type: 'block' | 'have'
  readonly cancel: boolean
  readonly sendDontHave: boolean
}

/** What a peer says about a block that it does not send. */
export interface Presence {
  readonly cid: Cid
  readonly has: boolean
}

/** A block under the CID that its bytes have. */
export interface SentBlock {
  readonly cid: Cid
  readonly data: Uint8Array
}

/** One message in any version of the protocol: what is wanted, what is sent, what is or is not there. */
export interface BitswapMessage {
  readonly wants: readonly Want[]
  readonly blocks: readonly SentBlock[]
  readonly presences: readonly Presence[]
}

/** A message that came. */
export interface ReceivedMessage extends BitswapMessage {
  /** Data without a CID, of the oldest versions: their hash is looked for among what was asked. */
  readonly bareBlocks: readonly Uint8Array[]
  /** Blocks of hash functions that the chain does not use, or with broken prefixes. */
  readonly unusable: number
}

// Field numbers of bitswap_pb.proto.
const WANTLIST = 1
const BARE_BLOCKS = 2
const PAYLOAD = 3
const PRESENCES = 4
const LIST_ENTRIES = 1
const ENTRY_CID = 1
const ENTRY_PRIORITY = 2
const ENTRY_CANCEL = 3
const ENTRY_TYPE = 4
const ENTRY_SEND_DONT_HAVE = 5
const BLOCK_PREFIX = 1
const BLOCK_DATA = 2
const PRESENCE_CID = 1
const PRESENCE_TYPE = 2
const TYPE_HAVE = 1
const PRESENCE_DONT_HAVE = 1
/** All wants are equally urgent. */
const PRIORITY = 1

/** The message in a frame of its length, for a stream of `protocol`. What the version has no words for is left out. */
export function encodeMessage(message: BitswapMessage, protocol: string): Uint8Array {
  const newest = protocol.endsWith('/1.2.0')
  const writer = new ProtoWriter()
  const wants = newest ? message.wants : message.wants.filter((want) => want.type === 'block')
  if (wants.length > 0) writer.bytes(WANTLIST, encodeWants(wants))
  for (const block of message.blocks) {
    if (newest || protocol.endsWith('/1.1.0')) writer.bytes(PAYLOAD, encodeBlock(block))
    else writer.bytes(BARE_BLOCKS, block.data)
  }
  if (newest) for (const presence of message.presences) writer.bytes(PRESENCES, encodePresence(presence))
  return writer.finish(true)
}

function encodeWants(wants: readonly Want[]): Uint8Array {
  const writer = new ProtoWriter()
  for (const want of wants) {
    const entry = new ProtoWriter()
    entry.bytes(ENTRY_CID, want.cid.bytes)
    entry.number(ENTRY_PRIORITY, PRIORITY)
    entry.number(ENTRY_CANCEL, want.cancel ? 1 : 0)
    entry.number(ENTRY_TYPE, want.type === 'have' ? TYPE_HAVE : 0)
    entry.number(ENTRY_SEND_DONT_HAVE, want.sendDontHave ? 1 : 0)
    writer.bytes(LIST_ENTRIES, entry.finish())
  }
  return writer.finish()
}

function encodeBlock(block: SentBlock): Uint8Array {
  const writer = new ProtoWriter()
  writer.bytes(BLOCK_PREFIX, prefixOf(block.cid))
  writer.bytes(BLOCK_DATA, block.data)
  return writer.finish()
}

/** Version, codec, hash function and digest length of a CID. */
function prefixOf(cid: Cid): Uint8Array {
  const { digestOffset, version, codec, bytes } = cid
  return version === 1 ? bytes.subarray(0, digestOffset) : Uint8Array.of(0, codec, ...bytes.subarray(0, digestOffset))
}

function encodePresence(presence: Presence): Uint8Array {
  const writer = new ProtoWriter()
  writer.bytes(PRESENCE_CID, presence.cid.bytes)
  writer.number(PRESENCE_TYPE, presence.has ? 0 : PRESENCE_DONT_HAVE)
  return writer.finish()
}

/**
 * Reads a message, without its frame. Data of blocks are views of `bytes`; CIDs are computed from them.
 * @throws P2pError `MALFORMED`; CodecError of a CID
 */
export function decodeMessage(bytes: Uint8Array): ReceivedMessage {
  const wants: Want[] = []
  const blocks: SentBlock[] = []
  const presences: Presence[] = []
  const bareBlocks: Uint8Array[] = []
  let unusable = 0
  const reader = new ProtoReader(bytes)
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (wire !== WIRE_BYTES) reader.skip(wire)
    else if (field === WANTLIST) decodeWants(reader.bytes(), wants)
    else if (blocks.length + presences.length + bareBlocks.length + unusable >= MAX_MESSAGE_BLOCKS) {
      reader.skip(wire)
      unusable++
    } else if (field === PRESENCES) decodePresence(reader.bytes(), presences)
    else if (field === BARE_BLOCKS) bareBlocks.push(reader.bytes())
    else if (field === PAYLOAD) {
      const block = decodeBlock(reader.bytes())
      if (block === undefined) unusable++
      else blocks.push(block)
    } else reader.skip(wire)
  }
  return { wants, blocks, presences, bareBlocks, unusable }
}

function decodeWants(bytes: Uint8Array, into: Want[]): void {
  const reader = new ProtoReader(bytes)
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (field !== LIST_ENTRIES || wire !== WIRE_BYTES) {
      reader.skip(wire)
      continue
    }
    const entry = reader.bytes()
    if (into.length < MAX_ENTRIES) into.push(decodeWant(entry))
  }
}

function decodeWant(bytes: Uint8Array): Want {
  const { data, numbers } = fields(bytes, ENTRY_CID)
  return {
    cid: cidFromBytes(data),
    type: numbers.get(ENTRY_TYPE) === TYPE_HAVE ? 'have' : 'block',
    cancel: (numbers.get(ENTRY_CANCEL) ?? 0) !== 0,
    sendDontHave: (numbers.get(ENTRY_SEND_DONT_HAVE) ?? 0) !== 0,
  }
}

function decodePresence(bytes: Uint8Array, into: Presence[]): void {
  const { data, numbers } = fields(bytes, PRESENCE_CID)
  into.push({ cid: cidFromBytes(data), has: (numbers.get(PRESENCE_TYPE) ?? 0) !== PRESENCE_DONT_HAVE })
}

/** The one byte string and the numbers of a small message. */
function fields(bytes: Uint8Array, dataField: number): { data: Uint8Array; numbers: Map<number, number> } {
  const reader = new ProtoReader(bytes)
  const numbers = new Map<number, number>()
  let data: Uint8Array | undefined
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (wire === WIRE_VARINT) numbers.set(field, reader.varint())
    else if (wire === WIRE_BYTES && field === dataField) data = reader.bytes()
    else reader.skip(wire)
  }
  if (data === undefined) throw new P2pError('MALFORMED', 'Cannot read protobuf: an entry without its CID')
  return { data, numbers }
}

function decodeBlock(bytes: Uint8Array): SentBlock | undefined {
  const reader = new ProtoReader(bytes)
  let prefix: Uint8Array | undefined
  let data: Uint8Array = new Uint8Array(0)
  while (reader.more) {
    const { field, wire } = reader.tag()
    if (wire === WIRE_BYTES && field === BLOCK_PREFIX) prefix = reader.bytes()
    else if (wire === WIRE_BYTES && field === BLOCK_DATA) data = reader.bytes()
    else reader.skip(wire)
  }
  if (prefix === undefined) return undefined
  const cid = cidOf(prefix, data)
  return cid === undefined ? undefined : { cid, data }
}

/** The CID that data have under a prefix; undefined where the chain has no such CIDs. */
function cidOf(prefix: Uint8Array, data: Uint8Array): Cid | undefined {
  const version = readVarint(prefix, 0)
  const codec = readVarint(prefix, version.next)
  const hash = readVarint(prefix, codec.next)
  const length = readVarint(prefix, hash.next)
  const digest = digestOf(hash.value, data)
  if (digest === undefined || length.value !== digest.length) return undefined
  if (version.value === 1) return createCid(codec.value, hash.value, digest)
  if (version.value !== 0 || hash.value !== HASH_SHA2_256) return undefined
  return cidFromBytes(Uint8Array.of(HASH_SHA2_256, digest.length, ...digest))
}

function digestOf(hashCode: number, data: Uint8Array): Uint8Array | undefined {
  if (hashCode === HASH_BLAKE2B_256) return blake2b256(data)
  return hashCode === HASH_SHA2_256 ? sha256(data) : undefined
}

/** Digests that data without a CID may be known by, as hex. */
export function bareDigests(data: Uint8Array): readonly string[] {
  return [toHex(sha256(data)), toHex(blake2b256(data))]
}
