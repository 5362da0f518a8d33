/**
 * `crypto/` owns hashes, curves, signatures over bytes, VRF, beacon checks and the randomness draw.
 * It knows nothing of messages, addresses or wallets (types, wallet). It imports base and codec only.
 */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link CryptoError}. A signature that does not verify is `false`, never an error. */
export type CryptoErrorCode = 'INVALID_SECRET_KEY' | 'INVALID_SIGNATURE' | 'INVALID_LENGTH' | 'BACKEND_FAILED'

/** Errors of hashing, curves and keys. Key material never appears in them. */
export class CryptoError extends PetrelError<CryptoErrorCode> {}
