/** Headers among blocks, told without decoding. */
import { type Cid, CODEC_DAG_CBOR } from '../../codec/cid.ts'
import type { CollectableBlocks } from '../../ipld/collectable.ts'

/** First byte of a header's CBOR: an array of 16. */
export const HEADER_BYTE = 0x90

/** Whether a block that is there may be a header; no other block that a chain needs begins so. */
export function looksLikeHeader(blocks: CollectableBlocks, cid: Cid): boolean {
  return cid.codec === CODEC_DAG_CBOR && blocks.firstByte(cid) === HEADER_BYTE
}
