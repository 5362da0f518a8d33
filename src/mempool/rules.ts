/**
 * Values that every node's pool shares. A node that differs here loses messages on the way to its peers.
 * @see lotus chain/messagepool/messagepool.go, build/buildconstants
 */

/** Signed CBOR of a message, bytes. */
export const MAX_MESSAGE_SIZE_BYTES: number = 64 * 1024
/** What the check API keeps free for the signature, bytes. */
export const SIGNATURE_ALLOWANCE_BYTES = 128
/** Messages of one signature class in one block (the length limit of CBOR arrays in Lotus). */
export const BLOCK_CLASS_LIMIT = 8_192
/** A replacement pays at least this percentage of the premium that it replaces. */
export const MIN_REPLACE_BY_FEE_PERCENT = 110
/** Below this there is no message that fits, so packing stops. Lotus' gasguess.MinGas. */
export const MIN_GAS_WORTH_PACKING = 1_298_450n
/** Notional blocks that optimal selection cuts the pool into. */
export const MAX_SELECTION_BLOCKS = 15
/** Above this ticket quality the first block wins anyway and greedy selection is the best. */
export const GREEDY_TICKET_QUALITY = 0.84
/** Base fee divided by this is the lowest fee cap that we still add. */
export const ADD_BASE_FEE_DIVISOR = 100n
/** Base fee divided by this is the lowest fee cap worth keeping, republishing, checking. */
export const KEEP_BASE_FEE_DIVISOR = 10n
