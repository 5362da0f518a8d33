import type { Cid } from '../codec/cid.ts'
import type { StoreWrite } from '../mempool/groupCommit.ts'
import type { Message } from '../types/message.ts'

/** A message that the node is to price, number and sign. */
export type PaymentDraft = Pick<Message, 'to' | 'from' | 'value' | 'method' | 'params'>

/**
 * Prices, signs and pushes a draft.
 * @param writes - go to disk with the message, or neither does
 * @param signal - aborted when nobody wants it any more: what has no place in the pool yet is not sent
 * @returns CID of the signed message
 */
export type PushDraft = (
  draft: PaymentDraft,
  writes?: (message: Cid) => readonly StoreWrite[],
  signal?: AbortSignal,
) => Promise<Cid>
