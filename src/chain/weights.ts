/** What is kept of the chain takes so much memory, as it is counted against the bounds of caches: measured, not protocol. */

/** A decoded header with its block and its CID, bytes (measured: 5,000 with two parents). */
export const HEADER_BYTES = 6000
/** What a decoded message takes beside its parameters, bytes (measured: 1,050 to 1,300). */
export const MESSAGE_BYTES = 1200
/** What a list takes without any, bytes. */
export const MESSAGE_LIST_BYTES = 400
/** What a gas charge in a kept trace takes with its share of the rest, bytes (measured). */
export const TRACE_CHARGE_BYTES = 140
