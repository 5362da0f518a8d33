/**
 * What differs between networks in the actors' code.
 * @see builtin-actors v18 runtime/src/runtime/policy.rs
 */
export interface ActorsPolicy {
  /** Raw power from which a miner counts on its own, bytes. */
  readonly minimumConsensusPower: bigint
}

/** Networks of 2 KiB sectors: local chains, and the recorded ones. */
export const DEVNET_POLICY: ActorsPolicy = { minimumConsensusPower: 2048n }
