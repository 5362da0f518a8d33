/** Bounds of the chain exchange, ours to choose; times and sizes that Lotus or Forest use say so. */
import type { AskLimits } from '../framing/ask.ts'
import type { Budget } from '../peerBudget.ts'
import type { GateLimits } from '../serviceGate.ts'
import type { UnsentLimits } from '../unsentAnswers.ts'

/** Longest request that is read, bytes (forest). */
export const MAX_REQUEST_BYTES = 4096
/** Time to read a request, and to write an answer, milliseconds (Lotus). */
export const READ_REQUEST_MS = 10_000
export const WRITE_ANSWER_MS = 60_000
/** An answer ends before the tipset that would make it longer, with the status Partial; the first always fits (forest). */
export const MAX_SERVED_BYTES: number = 10 * 1024 * 1024
/** What is written at a time, bytes: a reader that stalls holds up this much in the stream. */
export const WRITE_BYTES: number = 64 * 1024
/** Longest time that making an answer keeps everything else waiting, milliseconds. */
export const BUSY_MS = 8

/** Longest time that a reader may leave a write waiting, milliseconds. */
export const STALL_MS = 10_000
/**
 * Streams whose request is awaited. Above it the oldest of the peer that has most is reset; else the one that comes. A Lotus that
 * catches up opens 16 at once, to one peer where it has but that one, and each again when it fails
 * (lotus chain/sync.go concurrentSyncRequests, fetchMessages).
 */
export const READ_GATE: GateLimits = { running: 64, perPeer: 32, waiting: 0 }
/**
 * Requests whose answers are made at once; sending keeps no place. Of a peer as many are made or sent as Forest takes; its others
 * wait, as far as it has a place, for a Lotus gives up all 128 tipsets of a window when one of its requests failed five times.
 */
export const SERVER_GATE: GateLimits = { running: 12, perPeer: 32, runningPerPeer: 4, waiting: 256 }
/**
 * An answer while others wait for a place, or while little of that is free, bytes: some tipsets. A Lotus gives up when nothing has come for five
 * seconds (lotus chain/exchange/protocol.go ReadResDeadline).
 */
export const SHORT_ANSWER_BYTES: number = 512 * 1024
/** Answers in memory, from the first byte made to the last one taken. */
export const UNSENT: UnsentLimits = { all: 120 * 1024 * 1024, longest: MAX_SERVED_BYTES, shortest: SHORT_ANSWER_BYTES }
/** A request that has waited for so long is not answered, milliseconds: a Lotus has given it up after five seconds, and asked anew. */
export const MAX_WAIT_MS = 10_000
/** Tipsets as they were sent last, bytes: those near the head are asked for by many. */
export const ENCODED_BYTES: number = 16 * 1024 * 1024
/**
 * Tipsets that a peer may ask for: some windows at once, then so many a second. Headers alone count a quarter, a request as ten
 * at least. A peer that syncs must not be slowed down by it: reading headers takes some 0.1 ms of a tipset.
 */
export const SERVER_BUDGET: Budget = { capacity: 20_000, perSecond: 2000 }
export const LEAST_COST = 10
export const HEADERS_SHARE = 0.25
/** Refusals of a peer that goes on asking, until it is reported. */
export const REFUSAL_BUDGET: Budget = { capacity: 32, perSecond: 1 }

/** Largest answer that is read, bytes (Lotus, forest). */
export const MAX_ANSWER_BYTES: number = 120 * 1024 * 1024
/** Largest headers of one tipset, bytes: fifteen blocks need some 30 KiB. */
export const MAX_HEADERS_BYTES: number = 1024 * 1024
/** Longest text of an error, bytes (cbor-gen). */
export const MAX_TEXT_BYTES = 8192

/** Times of Lotus' client; it has none for the whole answer, whose server gives up after 60 s. */
export const CLIENT_LIMITS: AskLimits = {
  openMs: 60_000,
  writeMs: 5000,
  answerMs: 90_000,
  pace: { waitMs: 5000, bytesPerSecond: 50 * 1024 },
  maxBytes: MAX_ANSWER_BYTES,
}

/** Peers that one question goes to before it has failed. */
export const MAX_ATTEMPTS = 16
/** Peers of whom is remembered how fast they answered, and how often they failed; beyond that the one asked longest ago is forgotten. */
export const MAX_TRACKED_PEERS = 1024
/** Most tipsets of a request, and of an answer: the epochs until finality. */
export const MAX_LENGTH = 900
/** Bounds of Lotus' decoder: blocks of a tipset, its messages (15 blocks of 10,000), indices of a block. */
export const MAX_BLOCKS = 8192
export const MAX_MESSAGES = 150_000
export const MAX_INDICES = 10_000
