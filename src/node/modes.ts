/** What a node can be told to do by itself, and what to take the chain's word for. Names alone: the command line loads no node for them. */

/** What a follower can make sure of by itself: everything; headers; what certificates of finality prove. */
export const VALIDATE_MODES = ['execute', 'headers', 'light'] as const
/** One of {@link VALIDATE_MODES}. */
export type ValidateMode = (typeof VALIDATE_MODES)[number]

/** Storage proofs. `verify`: with the keys at hand; `receipts`: by what the chain says of them. */
export const PROOFS_MODES = ['verify', 'receipts'] as const
/** One of {@link PROOFS_MODES}. */
export type ProofsMode = (typeof PROOFS_MODES)[number]
