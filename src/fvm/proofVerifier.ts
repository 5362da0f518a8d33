/**
 * Verification of storage proofs, behind a port: by `src/proofs` where the verifying keys are at hand, else by receipts. What an
 * implementation of this port says is what actors believe, so its name says how far to trust it.
 */

/** `error`: the proof is malformed and the actor gets IllegalArgument instead of an answer. */
export type ProofOutcome = boolean | 'error'

/** Infos are the CBOR that the actor passed. */
export interface ProofVerifier {
  /** One seal, out of a batch or alone. @param info - SealVerifyInfo */
  verifySeal(info: Uint8Array): ProofOutcome
  /** @param info - AggregateSealVerifyProofAndInfos */
  verifyAggregateSeals(info: Uint8Array): ProofOutcome
  /** @param info - ReplicaUpdateInfo */
  verifyReplicaUpdate(info: Uint8Array): ProofOutcome
  /** @param info - WindowPoStVerifyInfo */
  verifyWindowPoSt(info: Uint8Array): ProofOutcome
}

/**
 * Accepts every proof. For local chains, whose proofs are mocked, and for test vectors, which fake these syscalls.
 * A follower of a real network that used it would agree with the network only as long as nobody submits a bad proof.
 */
export const acceptAllProofs: ProofVerifier = {
  verifySeal: () => true,
  verifyAggregateSeals: () => true,
  verifyReplicaUpdate: () => true,
  verifyWindowPoSt: () => true,
}
