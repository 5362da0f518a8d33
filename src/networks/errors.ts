/** Errors of network descriptions. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link NetworkError}. */
export type NetworkErrorCode = 'INVALID_NETWORK' | 'UNKNOWN_NETWORK' | 'NOT_SUPPORTED'

/** A network file that cannot be used, or a question that the network's data do not answer. */
export class NetworkError extends PetrelError<NetworkErrorCode> {}
