/** Errors of the message pool: one code per verdict, with the texts that Lotus' clients read. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link MempoolError}. */
export type MempoolErrorCode =
  | 'MESSAGE_TOO_BIG'
  | 'MESSAGE_INVALID'
  | 'VALUE_TOO_HIGH'
  | 'FEE_CAP_TOO_LOW'
  | 'SIGNATURE_INVALID'
  | 'NONCE_TOO_LOW'
  | 'NONCE_GAP'
  | 'NONCE_TAKEN'
  | 'REPLACE_PREMIUM_TOO_LOW'
  | 'TOO_MANY_PENDING'
  | 'TOO_MANY_MESSAGES'
  | 'NOT_ENOUGH_FUNDS'
  | 'SENDER_INVALID'
  | 'SENDER_UNKNOWN'
  | 'SOFT_FAILURE'
  | 'RECIPIENT_INVALID'
  | 'NONCE_PRESET'
  | 'PREMIUM_ABOVE_FEE_CAP'
  | 'CONFIG_INVALID'
  | 'STORED_MESSAGE_INVALID'
  | 'OUT_OF_GAS'
  | 'EXECUTION_REVERTED'
  | 'ESTIMATION_FAILED'
  | 'NUMBER_VOID'
  | 'CLOSED'

/** Thrown by everything in this folder. */
export class MempoolError extends PetrelError<MempoolErrorCode> {}

/** The same verdict with Lotus' context in front of its text; anything that is not ours passes unchanged. */
export function withContext(context: string, error: unknown): unknown {
  if (!(error instanceof MempoolError)) return error
  return new MempoolError(error.code, `${context}: ${error.message}`, error.info, { cause: error })
}

/**
 * What gossip does with a message of a peer that failed with this code.
 * @returns `ignore` when an honest peer can send it (it sees another head), `reject` when it cannot
 * @see lotus chain/sub/incoming.go MessageValidator.Validate
 */
export function gossipVerdict(code: MempoolErrorCode): 'ignore' | 'reject' {
  switch (code) {
    case 'SOFT_FAILURE':
    case 'REPLACE_PREMIUM_TOO_LOW':
    case 'TOO_MANY_PENDING':
    case 'NONCE_GAP':
    case 'FEE_CAP_TOO_LOW':
    case 'NONCE_TOO_LOW':
    case 'NOT_ENOUGH_FUNDS':
    case 'NONCE_TAKEN':
    case 'SENDER_UNKNOWN':
    case 'CLOSED':
    case 'NUMBER_VOID':
    case 'TOO_MANY_MESSAGES':
      return 'ignore'
    case 'MESSAGE_TOO_BIG':
    case 'MESSAGE_INVALID':
    case 'VALUE_TOO_HIGH':
    case 'SIGNATURE_INVALID':
    case 'SENDER_INVALID':
    case 'RECIPIENT_INVALID':
    case 'NONCE_PRESET':
    case 'PREMIUM_ABOVE_FEE_CAP':
    case 'CONFIG_INVALID':
    case 'STORED_MESSAGE_INVALID':
    case 'OUT_OF_GAS':
    case 'EXECUTION_REVERTED':
    case 'ESTIMATION_FAILED':
      return 'reject'
  }
}
