/** Errors of the state tree and of actors' states. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link StateError}. */
export type StateErrorCode =
  | 'INVALID_STATE_ROOT'
  | 'INVALID_MANIFEST'
  | 'ACTOR_NOT_FOUND'
  | 'ADDRESS_NOT_FOUND'
  | 'UNKNOWN_CODE'
  | 'WRONG_MARK'
  | 'NOT_SUPPORTED'

/** A state that cannot be read, or an actor or address that is not in it. */
export class StateError extends PetrelError<StateErrorCode> {}
