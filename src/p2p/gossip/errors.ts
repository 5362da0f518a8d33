/** Errors of gossip. */
import { PetrelError } from '../../base/errors.ts'

/** Codes of {@link GossipError}. */
export type GossipErrorCode =
  /** An own block without a signature, or with too many messages. */
  | 'BLOCK_INVALID'
  /** An own block too large to be passed on. */
  | 'BLOCK_TOO_LARGE'
  /** A block names a message by a CID that no message has, or twice. */
  | 'MESSAGE_CID_INVALID'
  /** A block's messages are larger than any valid block's can be. */
  | 'MESSAGES_TOO_LARGE'
  /** Not all messages of a block were found in time. */
  | 'MESSAGES_MISSING'

/** What is wrong with a gossiped block or message. */
export class GossipError extends PetrelError<GossipErrorCode> {}
