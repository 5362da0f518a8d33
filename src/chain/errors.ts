/** Errors of the chain: tipsets, messages, state queries. Texts are Lotus' own where clients read them. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link ChainError}. */
export type ChainErrorCode =
  | 'NO_HEAD'
  | 'NO_GENESIS'
  | 'INVALID_HEIGHT'
  | 'TIPSET_INVALID'
  | 'OTHER_CHAIN'
  | 'PATH_TOO_LONG'
  | 'TOO_FAR_AHEAD'
  | 'CHECKPOINT_REFUSED'
  | 'BAD_LIST'
  | 'NO_POWER'
  | 'NO_BEACON_ENTRY'
  | 'FUTURE_RANDOMNESS'
  | 'UNDEFINED_ADDRESS'
  | 'ACTOR_NOT_FOUND'
  | 'NOT_AN_ACCOUNT'
  | 'SENDER_INVALID'
  | 'EXECUTION_REVERTED'
  | 'NOT_FOUND'
  | 'WRONG_MESSAGE'
  | 'WRONG_ADDRESS'
  | 'EXPENSIVE_FORK'
  | 'MESSAGE_REPLACED'
  | 'CONFIDENCE_TOO_HIGH'
  | 'CANCELLED'
  | 'VM_BUSY'
  | 'VM_CLOSED'
  | 'NULL_ROUND'
  | 'NOT_SUPPORTED'
  | 'MIGRATION_NOT_SUPPORTED'
  | 'INVALID_STATE'
  | 'IMPLICIT_MESSAGE_FAILED'

/** A question about the chain that has no answer. */
export class ChainError extends PetrelError<ChainErrorCode> {}
