/**
 * Tipsets: the blocks of one epoch with the same parents.
 * @see lotus chain/types/tipset.go NewTipSet, tipset_key.go
 */
import { MAX_TIPSET_BLOCKS } from '../base/bounds.ts'
import { compareBytes, concatBytes } from '../base/bytes.ts'
import { CborWriter } from '../codec/cborWriter.ts'
import { type Cid, readCid } from '../codec/cid.ts'
import { type Codec, cid, jsonOnly, listOrEmpty } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { blockCid } from '../crypto/blockCid.ts'
import type { Address } from './address.ts'
import { type BlockHeader, blockHeader, headerCid } from './blockHeader.ts'
import type { ChainEpoch } from './scalars.ts'

/** CIDs of a tipset's blocks in its order. Empty: "the current head" in most RPC methods. */
export type TipsetKey = readonly Cid[]

/** One or more blocks of an epoch with the same parents: what is executed, and what the next blocks point to. */
export interface Tipset {
  readonly key: TipsetKey
  /** In tipset order: by hash of the ticket, then by CID. */
  readonly blocks: readonly BlockHeader[]
  readonly height: ChainEpoch
}

/** The first block: the one with the smallest ticket. */
export function firstBlock(tipset: Tipset): BlockHeader {
  return tipset.blocks[0] as BlockHeader
}

/** Text for a `Map`: the CIDs' bytes one after the other. */
export function tipsetKeyText(key: TipsetKey): string {
  let out = ''
  for (const blockCid of key) out += blockCid.key
  return out
}

/** The CIDs' bytes one after the other. */
export function tipsetKeyBytes(key: TipsetKey): Uint8Array {
  return concatBytes(...key.map((blockCid) => blockCid.bytes))
}

/** @throws CodecError when `bytes` are not a row of CIDs */
export function tipsetKeyFromBytes(bytes: Uint8Array): TipsetKey {
  const out: Cid[] = []
  for (let at = 0; at < bytes.length; ) {
    const { cid: blockCid, next } = readCid(bytes, at)
    out.push(blockCid)
    at = next
  }
  return out
}

/** CID of a tipset key: of the CBOR byte string of its bytes. */
export function tipsetKeyCid(key: TipsetKey): Cid {
  const writer = new CborWriter()
  writer.bytes(tipsetKeyBytes(key))
  return blockCid(writer.finish())
}

/** By order, too: keys of one tipset always have the tipset's order. */
export function equalTipsetKeys(a: TipsetKey, b: TipsetKey): boolean {
  return a.length === b.length && a.every((blockCid, i) => blockCid.equals(b[i] as Cid))
}

/**
 * Whether two lists have the same CIDs, in whatever order: a block may name its parents in another order than their tipset's, and is on
 * that tipset all the same. As the reference compares: as many, and each of `b` is among `a`. So [x, y] equals [x, x], and not the other
 * way round; a tipset's own key, which has no CID twice, belongs on the right.
 * @see lotus chain/types/blockheader.go CidArrsEqual; tipset.go IsChildOf
 */
export function sameCids(a: readonly Cid[], b: readonly Cid[]): boolean {
  if (a.length !== b.length) return false
  if (equalTipsetKeys(a, b)) return true
  const known = new Set(a.map(({ key }) => key))
  return b.every(({ key }) => known.has(key))
}

/**
 * A CID that a key has twice: no tipset has such a key. The reference makes one and counts the block twice, but refuses to execute it
 * (see {@link repeatedMiner}), so that no valid block builds on it.
 */
export function repeatedCid(key: TipsetKey): Cid | undefined {
  return firstRepeated(key, (blockCid) => blockCid.key)
}

/** A miner of whom a tipset has two blocks: nothing valid builds on it. @see lotus chain/consensus/compute_state.go ExecuteTipSet */
export function repeatedMiner({ blocks }: Pick<Tipset, 'blocks'>): Address | undefined {
  return firstRepeated(blocks, ({ miner }) => miner.key)?.miner
}

/** The first whose name one before it has. */
function firstRepeated<T>(list: readonly T[], nameOf: (item: T) => string): T | undefined {
  const known = new Set<string>()
  for (const item of list) {
    const name = nameOf(item)
    if (known.has(name)) return item
    known.add(name)
  }
  return undefined
}

/** @throws CodecError `NOT_CANONICAL` for a key that no tipset has, whatever its blocks are */
export function assertTipsetKey(key: TipsetKey): void {
  const repeated = repeatedCid(key)
  if (repeated !== undefined) {
    throw new CodecError('NOT_CANONICAL', `cannot create tipset with a block twice (${repeated})`)
  }
}

/** Hash by which tickets are compared. */
export function ticketHash(header: BlockHeader): Uint8Array {
  return blake2b256(header.ticket?.vrfProof ?? new Uint8Array(0))
}

/**
 * The tipset of these blocks, in any order.
 * @throws CodecError `WRONG_LENGTH` without blocks, `NOT_CANONICAL` when heights or parents differ, or a block is there twice
 */
export function createTipset(headers: readonly BlockHeader[]): Tipset {
  const first = headers[0]
  if (first === undefined) throw new CodecError('WRONG_LENGTH', 'NewTipSet called with zero length array of blocks')
  if (headers.length === 1) return { key: [headerCid(first)], blocks: [first], height: first.height }
  for (const header of headers) {
    if (header.height !== first.height) {
      throw new CodecError('NOT_CANONICAL', 'cannot create tipset with mismatching heights')
    }
    if (!equalTipsetKeys(header.parents, first.parents)) {
      throw new CodecError('NOT_CANONICAL', 'cannot create tipset with mismatching parents')
    }
  }
  const sorted = headers
    .map((header) => ({ header, hash: ticketHash(header), cid: headerCid(header) }))
    .sort((a, b) => compareBytes(a.hash, b.hash) || compareBytes(a.cid.bytes, b.cid.bytes))
  const key = sorted.map((block) => block.cid)
  assertTipsetKey(key)
  return { key, blocks: sorted.map((block) => block.header), height: first.height }
}

function assertCount(json: readonly unknown[], what: string): void {
  if (json.length <= MAX_TIPSET_BLOCKS) return
  throw new CodecError('TOO_LARGE', `Cannot read ${what}: ${json.length} blocks, at most ${MAX_TIPSET_BLOCKS}`)
}

const cids = listOrEmpty(cid, MAX_TIPSET_BLOCKS) as unknown as Codec<TipsetKey>

/**
 * JSON array of CIDs, {@link MAX_TIPSET_BLOCKS} at most; null and `[]` are the empty key. A null among them adds no byte to the reference's
 * key: it counts for nothing.
 * @see lotus chain/types/tipset_key.go UnmarshalJSON, encodeKey
 */
export const tipsetKey: Codec<TipsetKey> = {
  ...cids,
  name: 'types.TipSetKey',
  fromJson: (json, context) => {
    if (!Array.isArray(json)) return cids.fromJson(json, context)
    assertCount(json, tipsetKey.name)
    return cids.fromJson(
      json.filter((entry) => entry !== null),
      context,
    )
  },
}

const blocks: Codec<BlockHeader[]> = listOrEmpty(blockHeader, MAX_TIPSET_BLOCKS)

/** JSON `{Cids, Blocks, Height}`; on input only Blocks is used. */
export const tipset: Codec<Tipset> = jsonOnly<Tipset>(
  'types.TipSet',
  (value, context) => ({
    Cids: tipsetKey.toJson(value.key, context),
    Blocks: value.blocks.map((block) => blockHeader.toJson(block, context)),
    Height: value.height,
  }),
  (json, context) => {
    const list = json !== null && typeof json === 'object' && !Array.isArray(json) ? json.Blocks : undefined
    if (Array.isArray(list)) assertCount(list, 'types.TipSet')
    return createTipset(blocks.fromJson(list, context))
  },
  {
    type: 'object',
    title: 'types.TipSet',
    properties: { Cids: tipsetKey.schema, Blocks: blocks.schema, Height: { type: 'integer' } },
  },
)
