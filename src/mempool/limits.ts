/** Bounds of the pool that are ours to choose; the defaults are Lotus'. */

/**
 * Bytes of all pending messages: above the first the pool is pruned, to the second; above the third, or so many messages
 * above the configured size, nothing of others is taken. Lotus counts messages alone: 30,000 of them may be 2 GB.
 */
export const POOL_BYTES_HIGH: number = 192 * 1024 * 1024
export const POOL_BYTES_LOW: number = 128 * 1024 * 1024
export const POOL_BYTES_MAX: number = 256 * 1024 * 1024
export const POOL_HEADROOM = 10_000
/** Pending messages of one sender. */
export const MAX_PENDING_PER_SENDER = 1_000
/** Pending messages of one sender that came by MpoolPushUntrusted. */
export const MAX_UNTRUSTED_PENDING_PER_SENDER = 100
/** Messages of callers without a token that are kept on disk; those after them are as safe as a peer's. */
export const MAX_STRANGERS_KEPT = 1_000
/** Nonces that a gossiped message may be ahead of the next one. */
export const MAX_NONCE_GAP = 4n
/** BLS signatures kept for messages that a reorg may put back, messages. */
export const BLS_SIGNATURE_CACHE = 40_000
/** Signatures known to be good, messages. */
export const VERIFIED_SIGNATURE_CACHE = 32_000
/** Tipsets of which state nonces are remembered, and nonces of each. */
export const STATE_NONCE_TIPSETS = 4
export const STATE_NONCE_CACHE = 8_192
/**
 * Of a batch, BLS signatures that are verified in one check, and messages that are looked at for them; then others have their
 * turn. 64 take 46 ms, 0.7 ms each; of 16 each takes 1.1, of 128 0.64, and alone 2.1.
 */
export const SIGNATURES_AHEAD = 64
export const MESSAGES_AHEAD = 128
/** ID address to key address, entries: few senders write theirs as an ID. */
export const KEY_ADDRESS_CACHE = 16_384
/** Senders whose nonce and balance are kept from state to state, entries of some 300 bytes; and slots that are compared for that. */
export const SENDER_STATE_CACHE = 16_384
export const MAX_STATE_CHANGES = 32_768
/** Messages in one round of republishing. */
export const REPUBLISH_BATCH = 30
/** Pause between two republished messages, ms. */
export const REPUBLISH_SPACING_MS = 100
/** Shortest time between two rounds of republishing, ms (gossip forgets a message after 120 s). */
export const MIN_REPUBLISH_INTERVAL_MS = 120_000
/** Until messages that nobody heard, or that are back from disk, go to the network again, ms; each time in vain twice as long. */
export const UNHEARD_RETRY_MS = 10_000
export const MAX_UNHEARD_RETRY_MS = 60_000
/** Pause between two of them, ms: a thousand of a sender are told of in ten seconds, and what it sends meanwhile comes behind them. */
export const PUBLISH_SPACING_MS = 10
/** Estimates of premiums kept, and premiums of messages that they come from: some 100 bytes each, and a tipset's few hundred are one. */
export const PREMIUM_CACHE_TIPSETS = 256
export const PREMIUM_CACHE_MESSAGES = 100_000
/** An empty tipset counts as so many of them, so that 512 are kept: an estimate looks at 256. */
export const PREMIUM_TIPSET_WEIGHT = 195
/** Tipsets between the pool's own and one that messages are chosen for: more than a reorganisation can take back. */
export const MAX_SELECT_TIPSETS = 900
/** Between two tries to take a message from disk whose sender's state has to be fetched, ms. */
export const LATE_RETRY_MS = 5_000
/** The same, and for one that the head's state refuses, when nothing has changed for it for long. */
export const MAX_LATE_RETRY_MS = 600_000
/** Senders whose state is fetched together where it is not at hand: each round of fetching reads all of them again. */
export const SENDERS_TOGETHER = 128
/** How long the event loop may wait for what is read of a changed head, ms. */
export const FETCH_STRETCH_MS = 20
