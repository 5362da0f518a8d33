/** Bounds of synchronisation. */

/**
 * Blocks remembered as bad, bytes: as many as in Lotus (32,768) where each says little.
 * @see lotus build/buildconstants BadBlockCacheSize
 */
export const BAD_BLOCK_BYTES: number = 16 * 1024 * 1024
/** Tipsets of headers asked for at once. @see lotus chain/sync.go collectHeaders */
export const HEADER_WINDOW = 500
/** The first window below our own head, where a fork is most often short; each further one is five times as long. */
export const FORK_WINDOW = 20
/** Tipsets whose messages are asked for at once. @see lotus chain/sync.go syncRequestBatchSize */
export const MESSAGE_WINDOW = 16
/** Attempts at headers or messages that come but are wrong. */
export const FETCH_ATTEMPTS = 5
/** A target, or the head that a peer told of, which nobody could give is tried again after so long each time, ms. */
export const SYNC_AGAIN_MS: readonly number[] = [2000, 5000, 10_000, 20_000, 30_000]
/** Targets that wait, in all chains together. */
export const MAX_WAITING_TARGETS = 256
/** Blocks of one target that were put together from several offers. */
export const MAX_TARGET_BLOCKS = 32
/** Chains followed at once. @see lotus chain/sync_manager.go MaxSyncWorkers */
export const MAX_WORKERS = 5
/** Ended workers that SyncState still shows. @see lotus chain/sync_manager.go SyncWorkerHistory */
export const WORKER_HISTORY = 3
/** Targets remembered as done. @see lotus chain/sync_manager.go RecentSyncBufferSize */
export const RECENT_TARGETS = 10
/** The first sync is over with a worker that took no longer. @see lotus chain/sync_manager.go InitialSyncTimeThreshold */
export const INITIAL_SYNC_MS: number = 15 * 60 * 1000
/** Peers whose heads are kept until the first sync begins. */
export const MAX_HEADS = 64
/** Heads fetched from peers at once, and peers whose turn has not come; as many again whose head could not be had yet. */
export const MAX_HEAD_FETCHES = 8
export const MAX_WAITING_HEADS = 128
/** Validated blocks kept of one epoch: a producer that makes two is left out anyway. */
export const MAX_BLOCKS_PER_EPOCH = 128
/** Tipsets validated between two moves of the head during a long sync. */
export const HEAD_STEP = 25
/** Tipsets validated between two removals of old marks. */
export const PRUNE_STEP = 100
/** Tipsets that are checked in one turn: another worker's wait that long. */
export const ROW_TIPSETS = 6
/** Signatures verified together, about: 24 take 19 ms, and nothing else runs meanwhile. */
export const SIGNATURE_BATCH = 24
/** Signatures of messages whose check is remembered: those of three full blocks. Some 250 bytes each: 8 MB. */
export const CHECKED_SIGNATURES = 32_000
/** Aggregates of blocks whose check is remembered. */
export const CHECKED_AGGREGATES = 1024
/** How long the heads of a peer whose head was bad are not looked at, ms, and of how many peers that is remembered. */
export const DISTRUSTED_HEADS_MS = 600_000
export const DISTRUSTED_PEERS = 4096
/** Epochs after a bad block in which no other one of its miner is looked at by itself. */
export const DISTRUSTED_EPOCHS = 20
/** How long state is sought that the checks of one block need, ms. */
export const STATE_MS = 60_000
/** Headers of one window whose state is fetched ahead, and nodes of state for each of them, one below the other. */
export const AHEAD_BLOCKS = 64
export const AHEAD_RUNS = 64
/**
 * What was fetched ahead and nobody has needed yet, bytes, the largest block of it (nodes of a state's trees have 15 kB at most), and how
 * long it is kept, ms.
 */
export const AHEAD_BYTES: number = 16 * 1024 * 1024
export const AHEAD_BLOCK_BYTES: number = 64 * 1024
export const AHEAD_MS = 600_000
/** How long the event loop may wait for one stretch of checks, ms. */
export const STRETCH_MS = 20
/** Attempts at an execution that found the machine busy, and the pause between two, ms. */
export const BUSY_ATTEMPTS = 20
export const BUSY_PAUSE_MS = 250
/** Epochs around the head that are searched when its producer turns out to have made two blocks. @see lotus chain/store/store.go RefreshHeaviestTipSet */
export const EQUIVOCATION_SEARCH = 5
/** Largest header (it holds a power table) or certificate of F3's data in a snapshot, bytes. */
export const MAX_F3_ITEM_BYTES: number = 32 << 20
