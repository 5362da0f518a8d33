/** Errors of synchronisation. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link SyncError}. */
export type SyncErrorCode =
  | 'BAD_BLOCK'
  | 'BAD_ANCESTOR'
  | 'FORK_TOO_LONG'
  | 'FORK_BELOW_CHECKPOINT'
  | 'OTHER_GENESIS'
  | 'HEADERS_INVALID'
  | 'HEADERS_UNAVAILABLE'
  | 'MESSAGES_INVALID'
  | 'MESSAGES_UNAVAILABLE'
  | 'STATE_UNAVAILABLE'
  | 'BEACON_ENTRIES_DIFFER'
  | 'BAD_KEY'
  | 'STOPPED'

/** A chain that cannot be followed, or not now. */
export class SyncError extends PetrelError<SyncErrorCode> {}
