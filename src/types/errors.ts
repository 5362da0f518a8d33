/**
 * `types/` owns the chain's vocabulary: addresses, messages, blocks, signatures, and what follows from their bytes alone.
 * It knows no state: whether an actor exists, or which key an f0 address has, is decided above.
 */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link TypesError}. */
export type TypesErrorCode = 'INVALID_TRANSACTION' | 'INVALID_SIGNATURE' | 'UNKNOWN_KEY_TYPE'

/** A value of the right shape that breaks a rule of its kind. Texts are Lotus' where clients read them. */
export class TypesError extends PetrelError<TypesErrorCode> {}
