/** Bounds of what a file of another machine can make a reader of archives hold. */

/** Largest header of a CAR, bytes: room for thousands of roots. */
export const MAX_HEADER_BYTES: number = 1 << 20
/** Largest section, bytes: the metadata block of a version 2 snapshot may pass 100 MiB. */
export const MAX_SECTION_BYTES: number = 1 << 30
/**
 * What a frame of zstd is decompressed to, bytes: four bytes can stand for 128 KiB, so its own length bounds nothing. The longest section
 * of a CAR, F3's data, fits.
 */
export const MAX_FRAME_BYTES: number = MAX_SECTION_BYTES + 64 * 1024 * 1024
/** Largest block of a frame, also of one that repeats a byte, bytes. @see RFC 8878, 3.1.1.2.4 */
export const MAX_BLOCK_BYTES: number = 128 * 1024
/** Largest window of a frame, bytes: the reference decoder's own default bound (27 bits). */
export const MAX_WINDOW_BYTES: number = 1 << 27
/** Tables that the index of a CAR of version 2 may have: one per hash function and digest length. */
export const MAX_TABLES = 256
/** Requests (64 KiB each) that one block of an archive behind HTTP may take: the index' headers, its entry, its frame. */
export const MAX_REQUESTS_PER_BLOCK = 64
/** What a frame of blocks there is decompressed to, bytes: blocks are below 2 MiB, and Forest ends a frame after 8 kB. */
export const MAX_REMOTE_FRAME_BYTES: number = 64 << 20
/** How long one such request may take, ms. */
export const REMOTE_REQUEST_MS = 30_000
