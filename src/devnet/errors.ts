/** Errors of the local chain. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link DevnetError}. */
export type DevnetErrorCode =
  | 'OPTIONS_INVALID'
  | 'OTHER_CHAIN'
  | 'NO_WINNER'
  | 'FORK_TOO_DEEP'
  | 'NO_POWER'
  | 'KEEPS_CLOCK'
  | 'STOPPED'

/** Thrown by everything in this folder. */
export class DevnetError extends PetrelError<DevnetErrorCode> {}
