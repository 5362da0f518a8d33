/** Bounds of bitswap, ours to choose unless they say whose they are. */
import type { Budget } from '../peerBudget.ts'

/** Longest message, bytes: go-libp2p's `network.MessageSizeMax`, above which boxo reads none and makes none. */
export const MAX_MESSAGE_BYTES: number = 4 * 1024 * 1024
/**
 * Entries of one wantlist that are looked at. boxo's client puts up to 2 MiB of them into a message and says each of them
 * again after 30 s at the soonest, so what is passed over here is missing there.
 * @see ipfs/boxo bitswap/client/internal/messagequeue maxMessageSize, rebroadcastInterval
 */
export const MAX_ENTRIES = 16_384
/** Blocks, and words on whether they are there, of one answer. */
export const ANSWER_ENTRIES = 1024
/** Blocks, and words on whether they are there, of one message that are looked at: some 20 ms. boxo's have a few hundred. */
export const MAX_MESSAGE_BLOCKS = 4096
/** Bytes of blocks after which an answer is sent and the next begun. */
export const ANSWER_BYTES: number = 256 * 1024
/** A want-have of a block no larger is answered with the block, bytes (go-bitswap). */
export const SMALL_BLOCK_BYTES = 1024
/** Wants of one peer that wait for an answer; further ones are dropped. */
export const MAX_PENDING_WANTS = 16_384
/** Wants of all peers that wait; above it each has what go-bitswap gives it. */
export const MAX_PENDING_OF_ALL = 131_072
export const MIN_PENDING_WANTS = 1024
/**
 * Wants that could not be met are remembered for so long, milliseconds: boxo's client says one again after 30 to 45 s, and Lotus gives a
 * block up whose messages have not come within one epoch and a little. Of one peer as many as go-bitswap remembers, the newest; where
 * all peers together have as many as may be, so few.
 */
export const REMEMBERED_MS = 60_000
export const MAX_REMEMBERED_WANTS = 1024
export const MAX_REMEMBERED_OF_ALL = 32_768
export const MIN_REMEMBERED_WANTS = 128
/** Messages that wait to be sent to a peer, bytes. */
export const MAX_QUEUED_BYTES: number = 4 * 1024 * 1024
/** Time for one message to come, or to go, once it has begun, milliseconds. */
export const MESSAGE_MS = 20_000
/** Time to open a stream, milliseconds. */
export const OPEN_MS = 10_000
/** Longest time that reading blocks keeps everything else waiting, milliseconds. */
export const BUSY_MS = 5
/**
 * Streams that a peer may have open to this node: Lotus sends each 16 KiB of blocks on one of its own, as fast as it can, and what is sent on one
 * too many is lost.
 * @see ipfs/boxo bitswap/network/bsnet ipfs_impl.go SendMessage; bitswap/internal/defaults (BitswapEngineTargetMessageSize)
 */
export const MAX_STREAMS = 128
/** Messages that come at once: of one peer, of all. */
export const MAX_READING_OF_PEER = 4
export const MAX_READING = 32
/** Whoever waits so long for its turn gets that of the oldest message of the peer that has most, milliseconds. */
export const READING_PATIENCE_MS = 2000

/** A stream that outlives this time takes more than one message, milliseconds: a peer that reads one ends it at once. */
export const PROBE_MS = 1000
/** Streams that are opened to a peer while that is not known; more would look like a flood. */
export const PROBE_BUDGET: Budget = { capacity: 150, perSecond: 60 }

/** Time until a block that nobody brought is given up, milliseconds (forest). */
export const WANT_MS = 30_000
/** Others are asked when the first has not answered after three times its usual time, within these bounds, milliseconds. */
export const MIN_HEDGE_MS = 150
export const MAX_HEDGE_MS = 1000
/** A peer that has not answered is asked once more after so long each time, milliseconds: messages do get lost. */
export const ASK_AGAIN_MS: readonly number[] = [5000, 10_000]
/**
 * A peer that was first asked so long ago, milliseconds, and has not said a word since is asked on, but not waited for:
 * Venus speaks bitswap to fetch alone, and answers nobody.
 * @see filecoin-project/venus app/submodule/network/network_submodule.go NewNetworkSubmodule (WithServerEnabled)
 */
export const MUTE_MS: number = Math.max(...ASK_AGAIN_MS)
/** Peers that are asked at once whether they have what the first one has not; twice as many each time they take long. */
export const HAVE_FANOUT = 8
/** When nobody has it everybody is asked again, after so long each time, milliseconds: it may be on its way to them. */
export const RETRY_MS: readonly number[] = [250, 1000]
/** Blocks of one fetch that are asked for at once: each may come on a stream of its own, see {@link MAX_STREAMS}. */
export const FETCH_WINDOW = 128
/** Wants under way, of all who ask. */
export const MAX_WANTS = 65_536
/**
 * CIDs asked of peers that are remembered, so that a late answer is no flood: of all peers together, some 100 bytes each. All wants
 * that may be under way, of eight peers each.
 */
export const MAX_REMEMBERED_ASKS: number = 8 * MAX_WANTS

/** Blocks that nobody asked for: so many a peer may send, then it is read no faster than this pause between two messages lets it. */
export const UNASKED_BUDGET: Budget = { capacity: 256, perSecond: 1 }
export const UNASKED_PAUSE_MS = 1000
/** A file of IPFS: deepest tree; 174 children a vertex, as IPFS makes them, reach beyond any file in five. */
export const MAX_FILE_DEPTH = 8
/** Its blocks: 16 GB in blocks of 256 kB; a peer may name others without end that hold nothing. */
export const MAX_FILE_BLOCKS = 65_536
