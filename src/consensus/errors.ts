/** Errors of block production and validation. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link ConsensusError}. */
export type ConsensusErrorCode =
  | 'BEACON_UNKNOWN'
  | 'BEACON_MISSING'
  | 'BEACON_UNEXPECTED'
  | 'BEACON_WRONG_ROUND'
  | 'BEACON_INVALID'
  | 'ELECTION_INVALID'
  | 'TICKET_INVALID'
  | 'NO_POWER'
  | 'LOOKBACK_UNKNOWN'
  | 'NOT_SUPPORTED'

/** Thrown by everything in this folder. */
export class ConsensusError extends PetrelError<ConsensusErrorCode> {}
