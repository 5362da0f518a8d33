/**
 * A block as gossip carries it: the header, and its messages by CID.
 * @see lotus chain/types/blockmsg.go
 */
import type { BlockMessages } from '../../chain/blockMessages.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, list, tuple } from '../../codec/description.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { messageCid } from '../../types/message.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import { MESSAGE_LIST_LIMIT } from './rules.ts'

/** What the blocks topic carries; the messages themselves travel by their own topic. */
export interface BlockMsg {
  readonly header: BlockHeader
  /** In block order. */
  readonly blsMessages: Cid[]
  /** secp256k1 and delegated ones, in block order. */
  readonly secpkMessages: Cid[]
}

/** A block with its messages. */
export interface FullBlock {
  readonly header: BlockHeader
  readonly messages: BlockMessages
}

/** CBOR array of 3; also the parameter of SyncSubmitBlock. */
export const blockMsg: Codec<BlockMsg> = tuple<BlockMsg>('types.BlockMsg', [
  ['header', 'Header', blockHeader],
  ['blsMessages', 'BlsMessages', list(cid, MESSAGE_LIST_LIMIT)],
  ['secpkMessages', 'SecpkMessages', list(cid, MESSAGE_LIST_LIMIT)],
])

/** A whole block as it is announced: its messages by CID. */
export function toBlockMsg({ header, messages }: FullBlock): BlockMsg {
  return {
    header,
    blsMessages: messages.bls.map(messageCid),
    secpkMessages: messages.signed.map(signedMessageCid),
  }
}
