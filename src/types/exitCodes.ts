/** Exit codes of messages and of calls within them. @see ref-fvm shared/src/error/mod.rs ExitCode */

/** The machine gives those below 16 itself, actors give 16 and above. */
export const Exit = {
  OK: 0,
  SYS_SENDER_INVALID: 1,
  SYS_SENDER_STATE_INVALID: 2,
  SYS_ILLEGAL_INSTRUCTION: 4,
  SYS_INVALID_RECEIVER: 5,
  SYS_INSUFFICIENT_FUNDS: 6,
  SYS_OUT_OF_GAS: 7,
  SYS_ILLEGAL_EXIT_CODE: 9,
  SYS_ASSERTION_FAILED: 10,
  SYS_MISSING_RETURN: 11,
  USR_ILLEGAL_ARGUMENT: 16,
  USR_NOT_FOUND: 17,
  USR_FORBIDDEN: 18,
  USR_INSUFFICIENT_FUNDS: 19,
  USR_ILLEGAL_STATE: 20,
  USR_SERIALIZATION: 21,
  USR_UNHANDLED_MESSAGE: 22,
  USR_UNSPECIFIED: 23,
  USR_ASSERTION_FAILED: 24,
  USR_READ_ONLY: 25,
  USR_NOT_PAYABLE: 26,
} as const

/** First exit code that belongs to actors: a smaller one given by an actor becomes SYS_ILLEGAL_EXIT_CODE. */
export const FIRST_USER_EXIT_CODE = 16
