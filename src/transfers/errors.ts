/** Errors of the transfers of a tipset. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link TransferError}. */
export type TransferErrorCode = 'RECIPIENT_UNKNOWN' | 'CURSOR_UNKNOWN' | 'INVALID_CONFIDENCE'

/** Thrown by everything in this folder. */
export class TransferError extends PetrelError<TransferErrorCode> {}
