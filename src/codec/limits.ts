/** What is read of one value, whoever wrote it. */

/** Nesting of CBOR that is passed over: the chain's own types stay far below, an attacker's must not exhaust the stack. */
export const MAX_CBOR_DEPTH = 512
/** Bytes of an integer of any size, with its sign. @see lotus chain/types/bigint.go BigIntMaxSerializedLen */
export const MAX_BIG_INT_BYTES = 128
/** Elements of a list in RLP: EIP-1559 transactions have the most, 12. */
export const MAX_RLP_ELEMENTS = 12
/** Nesting of RLP: far above what transactions need, far below the stack. */
export const MAX_RLP_DEPTH = 32
/** Bytes of RLP: a contract of 1 MiB with room to spare. */
export const MAX_RLP_BYTES: number = 2 * 1024 * 1024
