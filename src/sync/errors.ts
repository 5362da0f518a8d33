/** Errors of synchronisation. */
import { errorMessage, PetrelError } from '../base/errors.ts'
import { ValidationError } from '../consensus/validationError.ts'

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
  | 'CONSENSUS_FAULT'
  | 'STOPPED'

/** A chain that cannot be followed, or not now. */
export class SyncError extends PetrelError<SyncErrorCode> {}

/** Of a block that is bad for ever. @param where - what is known of the place where it goes wrong; '' for nothing */
export function badBlock(cause: unknown, where: string = '', cid: string = ''): SyncError {
  const text = where === '' ? errorMessage(cause) : `${errorMessage(cause)}; ${where}`
  const code = cause instanceof ValidationError ? cause.code : ''
  return new SyncError('BAD_BLOCK', text, { cid, check: code }, { cause })
}
