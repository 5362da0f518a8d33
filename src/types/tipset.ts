/**
 * Tipsets: the blocks of one epoch with the same parents.
 * @see lotus chain/types/tipset.go NewTipSet, tipset_key.go
 */
import { compareBytes, concatBytes } from '../base/bytes.ts'
import { CborWriter } from '../codec/cborWriter.ts'
import { type Cid, readCid } from '../codec/cid.ts'
import { type Codec, cid, jsonOnly, listOrEmpty } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { blockCid } from '../crypto/blockCid.ts'
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

/** Hash by which tickets are compared. */
export function ticketHash(header: BlockHeader): Uint8Array {
  return blake2b256(header.ticket?.vrfProof ?? new Uint8Array(0))
}

/**
 * The tipset of these blocks, in any order.
 * @throws CodecError `WRONG_LENGTH` without blocks, `NOT_CANONICAL` when heights or parents differ
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
  return { key: sorted.map((block) => block.cid), blocks: sorted.map((block) => block.header), height: first.height }
}

const cids = listOrEmpty(cid) as unknown as Codec<TipsetKey>

/**
 * JSON array of CIDs; null and `[]` are the empty key. A null among them adds no byte to the reference's key: it counts for
 * nothing.
 * @see lotus chain/types/tipset_key.go UnmarshalJSON, encodeKey
 */
export const tipsetKey: Codec<TipsetKey> = {
  ...cids,
  name: 'types.TipSetKey',
  fromJson: (json, context) =>
    cids.fromJson(Array.isArray(json) ? json.filter((entry) => entry !== null) : json, context),
}

const blocks: Codec<BlockHeader[]> = listOrEmpty(blockHeader)

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
    return createTipset(blocks.fromJson(list, context))
  },
  {
    type: 'object',
    title: 'types.TipSet',
    properties: { Cids: tipsetKey.schema, Blocks: blocks.schema, Height: { type: 'integer' } },
  },
)
