/**
 * What anybody who can send us something can make us hold, read or do, at most: the one place for bounds of the API and of
 * the texts that it reads. docs/bounds.md lists them; test/rpc/bounds.test.ts tries each at its bound and one above.
 * Bounds of the peer-to-peer protocols stand with their protocols (src/p2p/gossip/limits.ts and its kin, listed there too), those of
 * storage formats with their formats.
 */

const MIB = 1024 * 1024

/** Largest request of a caller with a token, bytes (go-jsonrpc's default). */
export const MAX_REQUEST_BYTES: number = 100 * MIB
/** Largest request of a caller without one, bytes. The largest call that anybody may make carries two messages of 64 KiB. */
export const MAX_ANONYMOUS_REQUEST_BYTES: number = 4 * MIB
/**
 * Values and keys of a request of a caller without a token, about: its commas, colons and brackets. Two messages of 64 KiB whose bytes
 * are numbers have half of it.
 */
export const MAX_ANONYMOUS_VALUES = 262_144
/** What one of them is counted for while a request is held, bytes. */
export const VALUE_BYTES = 32
/**
 * Requests that are read or wait for their answer, unfinished frames, and what is sent together of a batch's answers (64 KiB), all
 * connections together, bytes.
 */
export const MAX_BODIES_BYTES: number = 256 * MIB
/** Of those, the ones that callers without a token of one address (of IPv6: of one network of 64 bits) may have, bytes. */
export const MAX_ADDRESS_BODIES_BYTES: number = 128 * MIB
/** From the first byte of a request, or of a frame, to its last, milliseconds. */
export const REQUEST_TIME_MS = 120_000
/** A connection without a request, milliseconds. A WebSocket is not among them: it is pinged. */
export const IDLE_CONNECTION_MS = 600_000
/** A new connection may take this long to its first byte before it counts as idle, milliseconds. */
export const FIRST_BYTE_MS = 10_000
/**
 * Connections, WebSockets among them. Above it the one that has been idle for longest goes; where none is, the stalest without a token of
 * the address that has most of them, if that is to keep no fewer than the new one's; else a request is answered with 503.
 */
export const MAX_CONNECTIONS = 1_024
/** Threads that answer reads beside the node: each has a row of 25 kB in memory that all of them look through. */
export const MAX_READ_THREADS = 16

/** One answer, bytes of JSON; a batch as a whole. A list that is sent in parts (src/rpc/listing.ts) may have more. */
export const MAX_ANSWER_BYTES: number = 100 * MIB
/** Refusals of what is beyond that in a batch, bytes; the rest of it is not answered. */
export const MAX_REFUSALS_BYTES: number = MIB
/**
 * A client with this much unread, answers to what it has asked for apart, gets no further events: its channel ends, or its connection. What
 * waits behind a list that is sent in parts is unread, too. Bytes.
 */
export const MAX_UNREAD_BYTES: number = 16 * MIB
/** From this much unread on nothing is read from a WebSocket, until half of it has left. Bytes. */
export const HOLD_UNREAD_BYTES: number = MIB
/** Answers that have not left, all connections together, bytes. Above it the client that has taken nothing for longest goes. */
export const MAX_ALL_UNREAD_BYTES: number = 256 * MIB
/** Requests under way on one connection of HTTP, which a client sends without waiting for their answers; the next begin as others have left. */
export const MAX_PIPELINED_REQUESTS = 64
/** Requests under way on one WebSocket, waits (`StateWaitMsg`) among them. */
export const MAX_RUNNING_REQUESTS = 2_048
/** Channels and Ethereum subscriptions of one WebSocket, each. */
export const MAX_CHANNELS = 128
/**
 * Of both: of all callers; of one token; of one address without a token (of IPv6: of one network of 64 bits). Each costs the node some 50 microseconds of its event loop for
 * each head.
 */
export const SUBSCRIPTION_LIMITS = { all: 16_384, perToken: 8_192, perAddress: 1_024 } as const
/**
 * What filters of Ethereum's interface want, and what subscriptions to logs and events do, each kind by itself: addresses, topics, fields and
 * values as they are held, bytes. Of all callers; of those without a token; of one token; of one address without a token. 10,000 addresses take
 * 1 MiB.
 */
export const WANTED_LIMITS: Readonly<Record<'all' | 'withoutToken' | 'perToken' | 'perAddress', number>> = {
  all: 128 * MIB,
  withoutToken: 96 * MIB,
  perToken: 64 * MIB,
  perAddress: 16 * MIB,
}
/**
 * Heads, messages of the pool or blocks that those who listen have not been told of yet. Above it their channels end, or their connections:
 * they have missed something. A pool that is filled at once has as many.
 */
export const MAX_UNTOLD = 32_768
/** Streams of transfers (`GET /transfers`), all together. */
export const MAX_EVENT_STREAMS = 64
/** Streams of transfers of one token, or of one address without a token. */
export const MAX_CALLER_EVENT_STREAMS = 8
/** Results that filters of Ethereum's interface collected and nobody has asked for, all filters together, bytes of JSON. */
export const MAX_FILTER_BYTES: number = 16 * MIB
/**
 * Logs that are kept for searches of the past (`eth_getLogs`), of a stretch of the chain below the head, bytes; those further down are read
 * anew each time. Some 140,000.
 */
export const MAX_SEARCHED_LOG_BYTES: number = 128 * MIB
/** Steps of the chain whose logs and blocks are kept for those who have not been told of them yet; who is further behind has them made again. */
export const MAX_SHARED_STEPS = 8
/** Tipsets of one event: a client that reads slowly has no more than this made for it. */
export const EVENT_TIPSETS = 10

/** Nesting of a JSON text (Go's decoder). */
export const MAX_JSON_DEPTH = 10_000
/** Digits of an integer in JSON. The largest that a message can carry has 306: 127 bytes. */
export const MAX_INTEGER_DIGITS = 320
/** Characters of an error's text in an answer: what it says is often what was asked, which may have megabytes. */
export const MAX_ERROR_TEXT = 16_384
/** The id of a request as text. It is kept as long as what was asked for: a wait, a channel, a filter. A UUID has 36. */
export const MAX_ID_TEXT = 1_024
/** A CID as text: 512 bytes in the longest base. */
export const MAX_CID_TEXT = 1_024
/** A peer ID as base58 text; its multihash has 68 bytes at most. */
export const MAX_PEER_ID_TEXT = 128

/**
 * Blocks of a tipset, or CIDs of its key, in JSON. An epoch has five wins on average, each of them a block at most: the chance of a hundred
 * is none.
 */
export const MAX_TIPSET_BLOCKS = 128

/** Epochs that a block may lie above its parents for `MinerGetBaseInfo`: each has a beacon entry. */
export const MAX_EPOCHS_AHEAD = 900
/** Null rounds that `StateCompute` executes, one by one: an hour of mainnet. */
export const MAX_COMPUTED_EPOCHS = 120
/** Epochs on top of a tipset that a client of transfers may want: a month of mainnet. */
export const MAX_TRANSFER_CONFIDENCE = 100_000
/** Messages that `MpoolCheckMessages` and its kin look at, those that are pending beside them included. */
export const MAX_CHECKED_MESSAGES = 2_000
/** Steps that `ChainGetPath` gives, and tipsets that `ChainGetTransfersSince` takes back: a day and a half of mainnet. */
export const MAX_PATH_TIPSETS = 4_320
/** Rows of a page of transfers, messages or logs of an address. */
export const MAX_PAGE_ROWS = 1_000
/** Tipsets that are walked for such a page where there is no index. */
export const MAX_PAGE_TIPSETS = 100

/**
 * What each part (64 KiB) of an answer that is sent in parts adds to its deadline, milliseconds: who takes less than 32 KiB a second
 * is not answered for long. The same of the time (`REQUEST_TIME_MS`) that the client of any such answer may keep the node waiting.
 */
export const PART_MS = 2_000

/**
 * Calls that cost much, by kind (src/rpc/cost.ts): at once; of them of one caller, and of all without a token; waiting; of one token; of
 * one address without a token; milliseconds from the request to the answer (0: as long as it takes).
 */
export const COST_LIMITS = {
  scan: {
    running: 8,
    runningOfCaller: 4,
    runningWithoutToken: 6,
    waiting: 2_048,
    perToken: 512,
    perAddress: 128,
    deadlineMs: 120_000,
  },
  // Of the machine's threads, four at most, one caller never takes all.
  execute: {
    running: 8,
    runningOfCaller: 3,
    runningWithoutToken: 6,
    waiting: 2_048,
    perToken: 512,
    perAddress: 128,
    deadlineMs: 120_000,
  },
  stream: {
    running: 8,
    runningOfCaller: 4,
    runningWithoutToken: 6,
    waiting: 16,
    perToken: 4,
    perAddress: 2,
    deadlineMs: 0,
  },
  sign: {
    running: 2,
    runningOfCaller: 2,
    runningWithoutToken: 1,
    waiting: 2_048,
    perToken: 512,
    perAddress: 128,
    deadlineMs: 60_000,
  },
  wait: {
    running: 16_384,
    runningOfCaller: 8_192,
    runningWithoutToken: 12_288,
    waiting: 0,
    perToken: 8_192,
    perAddress: 1_024,
    deadlineMs: 0,
  },
} as const
/**
 * From the request to the answer of any other call that does not answer at once, milliseconds. What rightly takes longer says so in its
 * row (`noDeadline`): it waits for a person, say.
 */
export const CHEAP_DEADLINE_MS = 120_000
/** How long a call that is one too many waits for its refusal, milliseconds. */
export const REFUSAL_MS = 100
/** Proxies in a row that are passed by when a request's address is looked up: more is nobody's set-up. */
export const MAX_PROXY_HOPS = 8
/** A turn of the loop that such calls and batches take together before others have theirs, milliseconds. */
export const DEAR_TURN_MS = 3

/** Tokens whose check is remembered: about as many as an operator hands out. */
export const MAX_CACHED_TOKENS = 256
/** Longest token that is looked at, characters (HTTP servers allow headers of 16 KiB). */
export const MAX_TOKEN_LENGTH = 8192
/** How often a WebSocket server pings its clients, and looks whether their tokens still hold, milliseconds (go-jsonrpc's). */
export const PING_INTERVAL_MS = 5000
