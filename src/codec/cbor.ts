/** The parts of CBOR that reader and writer share. @see RFC 8949 */

/** Major types: the three high bits of an item's first byte. */
export const MAJOR_UINT = 0
export const MAJOR_NEGATIVE = 1
export const MAJOR_BYTES = 2
export const MAJOR_TEXT = 3
export const MAJOR_ARRAY = 4
export const MAJOR_MAP = 5
export const MAJOR_TAG = 6
export const MAJOR_SIMPLE = 7

/** Tag of a CID. */
export const TAG_CID = 42

/** Items of one byte. */
export const FALSE = 0xf4
export const TRUE = 0xf5
export const NULL = 0xf6

/** What the high half of a 64-bit argument counts for. */
export const TWO_32 = 4294967296
