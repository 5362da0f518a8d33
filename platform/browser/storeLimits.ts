/** Bounds of what a tab keeps. Ours to choose. */

const MEBI = 1024 * 1024

/** Blocks in memory, bytes; older ones are read from IndexedDB again. */
export const MAX_MEMORY_BYTES: number = 192 * MEBI
/** Decoded nodes, bytes, at most: a tab has less memory than a server. No more than of the blocks that they are made of. */
export const NODE_CACHE_BYTES: number = 48 * MEBI
/** Blocks in IndexedDB, bytes; above it the oldest go. */
export const MAX_DISK_BYTES: number = 512 * MEBI
/** What an eviction goes down to, as a part of the bound: it runs seldom. */
export const EVICT_TO = 0.85
/** Blocks read into memory when the store opens, newest first, bytes. */
export const PRELOAD_BYTES: number = 48 * MEBI
/** Blocks per read of the preload. */
export const PRELOAD_STEP = 1000
/** Most bytes that wait to be written; the store refuses more when it cannot write. */
export const MAX_WAITING_BYTES: number = 96 * MEBI
/** Until a write that failed is tried again, ms. */
export const RETRY_MS = 1000
/** How long blocks wait for company before they are written, ms; anything else is written at once. */
export const BLOCKS_WAIT_MS = 250
/** Blocks of this many bytes are written without waiting. */
export const WRITE_AT_BYTES: number = 4 * MEBI
/** Most values of the key-value store, bytes: all of them are in memory. */
export const MAX_META_BYTES: number = 64 * MEBI
/** Newest certificates of finality that are kept at least: all values are in memory, and a network has thousands of them a day. */
export const KEPT_CERTIFICATES = 2880
/**
 * Values of one transaction, bytes. Of one with more than 1 MiB of changes Chromium writes what undoes it into the database, and a browser
 * that is killed meanwhile holds all of it corrupt when it opens it next, and deletes it.
 * @see chromium components/services/storage/indexed_db/scopes/leveldb_scopes.cc LevelDBScopes::Initialize, leveldb_scope.h Mode
 */
export const TRANSACTION_BYTES: number = 512 * 1024
/** What a change takes of that beside its value, bytes: keys, and what says that it is there. */
export const CHANGE_BYTES = 256
/** What is written so that the browser begins another log, bytes: LevelDB's buffer has 4 MiB. */
export const LOG_TURN_BYTES: number = 5 * MEBI
/** Room that the disk has before that is begun where one was full, bytes: log and table are there twice for a moment. */
export const ROOM_BYTES: number = 12 * MEBI
