/**
 * Bounds of the chain's caches and of executions. Tuning, not protocol. What is decoded is kept in the store's `NodeCache`, under one
 * bound; what each of it takes is in weights.ts.
 */

/** Skip pointers for tipsets by height, bytes of their text; each stands for 20 epochs. */
export const SKIP_CACHE_BYTES: number = 8 * 1024 * 1024
/** The same of 1,280 epochs each: ten years of mainnet. */
export const LEAP_CACHE_BYTES: number = 4 * 1024 * 1024
/** Results of executed tipsets that no later block names yet. */
export const TIPSET_STATE_CACHE = 1024
/** Loaded state trees; each remembers what was read of it, up to a bound of its own. */
export const STATE_TREE_CACHE = 16

/**
 * Where messages lie is noted by generations, so that old rows lie together: epochs of one, and how many are kept, which is four to
 * six days of mainnet. A row takes some 110 bytes of disk: 100 MB a day of 300 messages a tipset, twice that where all are Ethereum's.
 */
export const PLACE_GENERATION_EPOCHS = 5760
export const PLACE_GENERATIONS = 3
/** Tipsets that wait to be noted; above it the lowest are passed over. */
export const PLACES_UNNOTED = 900
/** Epochs below a head that a node begins with that are noted: a day of mainnet. */
export const PLACES_BELOW = 2880

/** Text of computed tipsets that is kept, bytes. */
export const MAX_PRINTED_BYTES: number = 16 * 1024 * 1024
/** Gas charges in kept traces where nothing else is said. */
export const MAX_TRACE_CHARGES = 500_000
/** Executions of callers that wait for a thread; further ones are refused. */
export const MAX_WAITING_CALLS = 256
/** Executions of tipsets among reads that wait, counted for themselves: where no next tipset says what one left, a read has it executed. */
export const MAX_WAITING_READS = 64
/** Parameters and results in the traces of one execution, bytes: as text they would fill an answer. */
export const MAX_TRACE_BYTES: number = 64 * 1024 * 1024
/** Blocks that the running calls of a message hold that a caller has run, bytes. One of the chain may hold what its gas buys. */
export const MAX_CALL_BYTES: number = 256 * 1024 * 1024
/** Charges of gas of such a message: six times as many as fit into a block. */
export const MAX_CALL_CHARGES = 4_000_000
/** How long an execution may go on that nobody waits for any more, milliseconds. */
export const CANCELLED_RUN_MS = 100
/**
 * Blocks that an execution makes and its thread sends at once, bytes: those of a migration are more than a heap holds. So many are stored
 * in some 10 ms.
 */
export const MAX_PART_BYTES: number = 2 * 1024 * 1024
/** Such parts that may be under way to the disk; then the execution waits. */
export const MAX_PARTS = 2
/** Blocks that a machine's thread keeps of those that it was sent or made itself, bytes. */
export const MAX_THREAD_BLOCK_BYTES: number = 512 * 1024 * 1024
/** Blocks that go to a thread at once. */
export const MAX_SUPPLY_BLOCKS = 2048
export const MAX_SUPPLY_BYTES: number = 8 * 1024 * 1024
/** Names of blocks that a thread was sent or made, before the list is begun anew: 100 bytes each, a dozen an empty epoch. */
export const MAX_SENT_NAMES = 20_000
/** Runs of one execution that lacked blocks. */
export const MAX_SUPPLIED_RUNS = 10_000
