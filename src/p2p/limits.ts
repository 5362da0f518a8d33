/** Bounds of Hello, and of what is remembered of peers by name. */

/** Longest Hello, bytes (forest's bound; a tipset of 15 blocks needs 700), and longest answer to it. */
export const MAX_HELLO_BYTES = 4096
export const MAX_HELLO_ANSWER_BYTES = 32
/** Time to open a stream for a Hello, and for each of its messages, ms. */
export const HELLO_OPEN_MS = 60_000
export const HELLO_MS = 10_000
/** Hellos that a peer may say: a few at once, then one in ten seconds. */
export const HELLO_BUDGET = { capacity: 5, perSecond: 0.1 } as const
/** Peers whose use of a budget is remembered; beyond that the one longest unheard of starts afresh. */
export const MAX_BUDGETED_PEERS = 4096
/** Addresses that are kept of a peer to be dialled again, none longer than this, characters. */
export const MAX_KEPT_ADDRESSES = 8
export const MAX_KEPT_ADDRESS_LENGTH = 256
