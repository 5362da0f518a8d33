/** Bounds of what sources, all of them strangers, can make a light node hold or wait for. */

/**
 * Longest answer of an RPC endpoint that is read, bytes: a batch of certificates of some thousand signers, or of full blocks. Three
 * are read at once.
 */
export const MAX_SOURCE_ANSWER_BYTES: number = 64 * 1024 * 1024
/** One answer of a source, milliseconds. */
export const SOURCE_ANSWER_MS = 15_000
/** Until the next source is asked as well, milliseconds: for what the first answer settles; for certificates, which all are asked for. */
export const HEDGE_MS = 400
export const SILENT_MS = 1_000
/** Failures in a row after which a source rests, and how long at first and at most, milliseconds. */
export const FAILURES_TO_REST = 3
export const REST_MS = 5_000
export const MAX_REST_MS = 300_000
/** Peers that lied and have left, which are remembered: a new peer ID costs nothing. Above it the first are forgotten. */
export const MAX_DROPPED_PEERS = 1_000
/** Named heads that wait to be looked at, the newest of each who names one; above it the first of those who named no sound one yet are forgotten. */
export const MAX_OFFERED_HEADS = 16
