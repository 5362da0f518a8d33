/** Bounds of the chain's caches, entries each. Tuning, not protocol. */

/** Decoded block headers. */
export const HEADER_CACHE = 8192
/** Tipsets. */
export const TIPSET_CACHE = 8192
/** Skip pointers for tipsets by height; each stands for 20 epochs. */
export const SKIP_CACHE = 65536
/** Message lists of blocks, by MsgMeta. */
export const BLOCK_MESSAGES_CACHE = 512
/** Messages of tipsets in execution order. */
export const TIPSET_MESSAGES_CACHE = 256
/** Results of executed tipsets that no later block names yet. */
export const TIPSET_STATE_CACHE = 1024
/** Loaded state trees. */
export const STATE_TREE_CACHE = 16
