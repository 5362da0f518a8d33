/** Reads what came on the blocks topic, and judges what needs no chain. */
import { storeMessageLists } from '../../chain/blockMessages.ts'
import type { Cid } from '../../codec/cid.ts'
import { decode } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { MemoryBlockstore } from '../../ipld/blockstore.ts'
import { BLOCK_MESSAGE_LIMIT } from '../../types/protocol.ts'
import type { Verdict } from '../pubSub.ts'
import { type BlockMsg, blockMsg } from './blockMsg.ts'

/** A verdict that ends a check, with the reason for the log and the counters. */
export interface Refusal {
  readonly verdict: Exclude<Verdict, 'accept'>
  readonly reason: string
}

/**
 * Decodes, counts the messages, looks for the signature.
 * @param data - the block keeps views of it
 * @see lotus chain/consensus/common.go decodeAndCheckBlock
 */
export function readBlockMsg(data: Uint8Array): BlockMsg | Refusal {
  let block: BlockMsg
  try {
    block = decode(blockMsg, data)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    // Numbers above 2^53: Lotus can read them and may have passed the block on in good faith.
    return { verdict: error.code === 'OUT_OF_RANGE' ? 'ignore' : 'reject', reason: 'undecodable' }
  }
  if (block.blsMessages.length + block.secpkMessages.length > BLOCK_MESSAGE_LIMIT) {
    return { verdict: 'reject', reason: 'too_many_messages' }
  }
  if (block.header.blockSig === null) return { verdict: 'reject', reason: 'missing_signature' }
  return block
}

/** The root that the header of a block must name for its two lists. */
export function messagesRootOf(block: BlockMsg): Cid {
  return storeMessageLists(new MemoryBlockstore(), { bls: block.blsMessages, signed: block.secpkMessages })
}
