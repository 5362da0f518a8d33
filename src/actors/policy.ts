/**
 * What differs between networks in the actors' code.
 * @see builtin-actors v18 runtime/src/runtime/policy.rs
 */
export interface ActorsPolicy {
  /** Raw power from which a miner counts on its own, bytes. */
  readonly minimumConsensusPower: bigint
  /** Registered window PoSt proofs that new miners may have. */
  readonly windowPoStProofs: readonly number[]
}

/** Local chains: sectors of 2 KiB and 8 MiB. @see builtin-actors v18 runtime/build.rs NETWORKS devnet */
export const DEVNET_POLICY: ActorsPolicy = { minimumConsensusPower: 2048n, windowPoStProofs: [10, 11] }
