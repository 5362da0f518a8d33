/** Why a block is not valid. */
import { PetrelError } from '../base/errors.ts'

/** One code per check of a block. In which order they are made: validateBlock.ts. */
export type ValidationCode =
  | 'FIELD_MISSING'
  | 'MINER_NOT_ID'
  | 'PARENTS_UNKNOWN'
  | 'LOOKBACK_UNKNOWN'
  | 'PREVIOUS_BEACON_UNKNOWN'
  | 'HEIGHT_NOT_ABOVE_PARENTS'
  | 'TIMESTAMP_WRONG'
  | 'TIMESTAMP_IN_FUTURE'
  | 'MINER_WITHOUT_CLAIM'
  | 'WEIGHT_WRONG'
  | 'WORKER_UNKNOWN'
  | 'NOT_A_WINNER'
  | 'NOT_ELIGIBLE'
  | 'ELECTION_PROOF_INVALID'
  | 'WIN_COUNT_WRONG'
  | 'BLOCK_SIGNATURE_INVALID'
  | 'BEACON_ENTRIES_INVALID'
  | 'TICKET_INVALID'
  | 'WINNING_POST_INVALID'
  | 'BLS_AGGREGATE_INVALID'
  | 'MESSAGE_KIND_WRONG'
  | 'MESSAGE_SYNTAX_WRONG'
  | 'GAS_LIMIT_EXCEEDED'
  | 'SENDER_INVALID'
  | 'NONCE_WRONG'
  | 'MESSAGE_SIGNATURE_INVALID'
  | 'MESSAGES_ROOT_WRONG'
  | 'BASE_FEE_WRONG'
  | 'STATE_ROOT_WRONG'
  | 'RECEIPTS_ROOT_WRONG'
  | 'DUPLICATE_MINER'

/**
 * Failures that time heals, or that are another's fault than the block's: it is not remembered as bad. With the wrong
 * parents nothing was checked at all, and whoever delivers other messages than a header names must not spoil the header.
 */
const TEMPORARY: ReadonlySet<ValidationCode> = new Set<ValidationCode>([
  'TIMESTAMP_IN_FUTURE',
  'PARENTS_UNKNOWN',
  'MESSAGES_ROOT_WRONG',
])

/** A block that fails a check. */
export class ValidationError extends PetrelError<ValidationCode> {
  /** Whether the same block may pass later. */
  get isTemporary(): boolean {
    return TEMPORARY.has(this.code)
  }
}
