/**
 * `proofs/` owns the verification of storage proofs: Groth16 over BLS12-381, the public inputs and challenges of every
 * registered proof type, SnarkPack, and the verifying keys by name and digest. It knows nothing of actors, chains or
 * where keys are kept. It imports base and crypto only.
 *
 * Field elements are bigints below the order r; commitments and other 32-byte inputs are little-endian, as everywhere in
 * Filecoin. The reference is `filecoin-proofs` 19.1 (Rust); each file names what it follows.
 */
import { PetrelError } from '../base/errors.ts'

/**
 * Codes of {@link ProofError}: what is refused before the equation is looked at. A proof that is well formed and does not
 * hold is `false`, never an error.
 */
export type ProofErrorCode =
  | 'UNKNOWN_PROOF_TYPE'
  /** A commitment, randomness or prover ID that is no field element, or is zero where that is refused. */
  | 'INVALID_INPUT'
  /** No sectors, or another number of them than the proof is about. */
  | 'INVALID_COUNT'
  /** Length of a proof. */
  | 'INVALID_LENGTH'
  /** Bytes of a proof that are no element of the group. */
  | 'INVALID_POINT'
  | 'INVALID_KEY'
  | 'KEY_MISSING'
  | 'BACKEND_FAILED'

/** Refusals of proofs and keys. */
export class ProofError extends PetrelError<ProofErrorCode> {}
