/** What a value of {@link valueToBytes} begins with, and what follows. */

/** Nothing follows. */
export const UNDEFINED = 0
/** Nothing follows. */
export const NULL = 1
/** Nothing follows. */
export const FALSE = 2
/** Nothing follows. */
export const TRUE = 3
/** A whole number below 2^31: varint. */
export const SMALL = 4
/** Any other number: eight bytes. */
export const DOUBLE = 5
/** A bigint from 0 to 2^53-1: eight bytes of the double. */
export const BIG_SMALL = 6
/** Length and magnitude. */
export const BIG_POSITIVE = 7
export const BIG_NEGATIVE = 8
/** Length and UTF-8. */
export const TEXT = 9
/** As TEXT; the reader keeps it under the next number. */
export const NEW_TEXT = 10
export const KNOWN_TEXT = 11
export const BYTES = 12
export const ARRAY = 13
export const MAP = 14
/** Count and names, then the values; the reader keeps the names under the next number. */
export const NEW_SHAPE = 15
export const KNOWN_SHAPE = 16
/** Version, codec, hash, offset of the digest, bytes; kept under the next number. */
export const NEW_CID = 17
export const KNOWN_CID = 18
/** Its bytes; kept under the next number. */
export const NEW_ADDRESS = 19
export const KNOWN_ADDRESS = 20

/** An object of few names that was written before; the reader keeps each such object under the next number. */
export const KNOWN_OBJECT = 21

/** Bytes that are none and yet there: nothing follows. */
export const PRESENT_NONE = 22

/** Most names of an object that is written once however often it occurs: charges in traces, thousands of a few kinds. */
export const MAX_KEPT_NAMES = 4
/** Longer texts are not worth remembering. Below 128: their length is one byte. */
export const MAX_KEPT_TEXT = 64

/** The largest code of a character that is one byte of UTF-8. */
export const MAX_ASCII = 0x7f

/** Bytes of a double. */
export const DOUBLE_SIZE = 8
