/** Bounds of gossip that are ours to choose. */
import type { Budget } from '../peerBudget.ts'
import type { GateLimits } from '../serviceGate.ts'

/** Bounds of one topic. */
export interface TopicBounds {
  readonly ofPeer: Budget
  /** Of all together that have not been of use yet: a hundred useless messages a second, half a core at worst. */
  readonly ofAll: Budget
  readonly gate: GateLimits
  /** Payloads that wait for their verdict, bytes. */
  readonly waitingBytes: number
}

const MIB = 1024 * 1024

/** So many bytes of a payload cost as much as one payload more. */
export const COST_BYTES = 4096
/**
 * What a message that was of no use costs on top. Honest peers bring a few; one who signs thousands with a key that the
 * chain does not know makes us check each signature (milliseconds) and never loses score.
 */
export const USELESS_COST = 9

/**
 * Blocks: a public network makes five in 30 s; the margin is for the fast chains of developers. What is above is dropped
 * unread: the same block comes from others. At most so many wait for state at a time.
 */
export const BLOCK_BOUNDS: TopicBounds = {
  ofPeer: { capacity: 200, perSecond: 20 },
  ofAll: { capacity: 5000, perSecond: 1000 },
  gate: { running: 64, perPeer: 32, waiting: 0 },
  waitingBytes: 32 * MIB,
}
/** Messages: a public network makes ten a second at most, and each is judged once, whoever brings it first. */
export const MESSAGE_BOUNDS: TopicBounds = {
  ofPeer: { capacity: 2000, perSecond: 100 },
  ofAll: { capacity: 5000, perSecond: 1000 },
  gate: { running: 2048, perPeer: 1024, waiting: 0 },
  waitingBytes: 32 * MIB,
}
/** Longest time that judging what came keeps everything else waiting, ms. */
export const JUDGING_MS = 20
/**
 * Pause after so much work on messages, and on envelopes whose signatures are checked, ms: a flood of either takes half of the event
 * loop at most, blocks go on meanwhile.
 */
export const MESSAGES_REST_MS: number = JUDGING_MS
/** A verdict that takes longer is of no use: the router has forgotten the message. */
export const VERDICT_MS = 8_000
/** Accepted blocks remembered, by CID. @see lotus chain/sub/incoming.go newBlockReceiptCache */
export const SEEN_BLOCKS = 8192
/**
 * A peer without a stream of ours gets one again after so long each time, ms: one that is reset at once, or does not answer, is not
 * asked each second.
 */
export const REOPEN_MS: readonly number[] = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000]
/** What waits to be sent to a peer, bytes; what comes on top is dropped. Where nothing of it is read for so long the stream is reset, ms. */
export const MAX_UNSENT_BYTES: number = 4 * MIB
export const UNREAD_MS = 30_000
/** Peers that left whose misdeeds are remembered: a new peer ID costs nothing. Above it those who left first are forgotten. */
export const MAX_RETAINED_SCORES = 4096

/** Blocks whose messages are being gathered. */
export const GATHER_RUNNING = 32
/** Of one miner: who signs many blocks with messages that nobody has must not keep the others waiting. */
export const GATHER_RUNNING_PER_MINER = 4
/** Blocks that wait to be gathered; above it the oldest goes. */
export const GATHER_WAITING = 128
/** Of those, blocks that one peer brought. */
export const GATHER_WAITING_PER_PEER = 32
/** Pause between two looks for messages that nobody had. */
export const GATHER_RETRY_MS = 1_000
/** Messages that are asked for together: a part that is slow does not hold up the others. */
export const FETCH_TOGETHER = 256
/** A block that is not whole after so long is asked for by the chain exchange too, again and again after so long, ms. */
export const TAKE_OVER_MS = 1_500
/** Shortest time without any new message after which a block is given up, ms. */
export const LEAST_PATIENCE_MS = 5_000
/**
 * Messages of one block, bytes. A block's gas limit of 10^10 pays for at most 10 MB: a byte costs 1000 gas, later 1300.
 */
export const MAX_BLOCK_MESSAGES_BYTES: number = 16 * 1024 * 1024
/** How long a peer that sends a PRUNE may say that it is not to be grafted, milliseconds: Lotus and this node ask for a minute. */
export const MAX_BACKOFF_MS = 3_600_000
/** Messages of ours whose receivers are watched, and for how long, ms: should all of them leave meanwhile, they go out again. */
export const MAX_WATCHED_MESSAGES = 8_192
export const WATCHED_MS = 120_000
/**
 * Bounds of the router: longest message, all of the envelope, bytes; messages that wait for their verdict, above which more are dropped;
 * topics that one peer may subscribe to in one announcement.
 */
export const ROUTER_LIMITS = { maxMessageBytes: 1_048_576, validationQueue: 4096, maxSubscriptions: 100 } as const
/** Control messages of one RPC that are looked at, names of messages in one of them, and peers that a PRUNE may name. */
export const MAX_CONTROL_MESSAGES = 512
export const MAX_MESSAGE_IDS = 5000
export const MAX_EXCHANGED_PEERS = 16
