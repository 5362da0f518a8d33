/** Bounds of what an index, its database or those who have its blocks can keep a node waiting for, and of what is written at once. */

/**
 * How long an index may take to say where it stands, milliseconds: one row by its key. From then on a replica is not ready; the
 * connection is given up later, by its own bounds.
 */
export const STANDING_MS = 5_000
/** How long the blocks between a replica's head and its index's may take, milliseconds. */
export const FOLLOW_MS = 30_000
/** Tipsets of one transaction, where many are missing; and of a longer one, a reorganisation's, those whose rows are made together. */
export const TIPSETS_AT_ONCE = 16
/** Tipsets that a database is asked for at once, by name and epoch. */
export const LISTED_TIPSETS = 64
/** Tipsets one after the other that cannot be executed here, after which the rows of those below are left as an earlier Petrel wrote them. */
export const MAX_MISSES = 16
