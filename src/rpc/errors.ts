/** Errors of the JSON-RPC layer, and the one table from their codes to the numbers on the wire. */
import { type ErrorInfo, PetrelError } from '../base/errors.ts'
import type { Json } from '../codec/description.ts'

/**
 * Codes of {@link RpcError}. The first group is the protocol's, the second are the typed failures of methods that
 * Lotus' clients tell apart by number (rpc-wire, section 1). `FAILED` is everything else that a method refuses.
 */
export type RpcErrorCode =
  | 'PARSE_ERROR'
  | 'INVALID_REQUEST'
  | 'METHOD_NOT_FOUND'
  | 'INVALID_PARAMS'
  | 'PANIC'
  | 'FAILED'
  | 'OUT_OF_GAS'
  | 'EXECUTION_REVERTED'
  | 'F3_DISABLED'
  | 'F3_TICKET_INVALID'
  | 'F3_TICKET_EXPIRED'
  | 'F3_ISSUER_MISMATCH'
  | 'F3_TOO_MANY_INSTANCES'
  | 'F3_STARTS_BEFORE_LEASE'
  | 'F3_NOT_READY'
  | 'ACTOR_NOT_FOUND'
  | 'NULL_ROUND'
  | 'PAYMENT_CHANNELS_DISABLED'
  | 'BLOCK_RANGE_EXCEEDED'
  | 'EXPENSIVE_FORK'
  | 'LIMIT_EXCEEDED'
  | 'TIMED_OUT'
  | 'CANCELLED'

/**
 * The number of each code in a JSON-RPC error object. Clients of Lotus make an error of their own of each number that Lotus
 * registers, by the number alone (`RPCErrors`): what is none of those must have another one. `TIMED_OUT` has Nethermind's
 * (`ErrorCodes.Timeout`); `LIMIT_EXCEEDED` shares EIP-1474's with `BLOCK_RANGE_EXCEEDED`, which is a limit, too.
 * @see lotus api/api_errors.go, go-jsonrpc errors.go
 */
export const RPC_ERROR_NUMBERS: Readonly<Record<RpcErrorCode, number>> = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  PANIC: 0,
  FAILED: 1,
  OUT_OF_GAS: 2,
  EXECUTION_REVERTED: 3,
  F3_DISABLED: 4,
  F3_TICKET_INVALID: 5,
  F3_TICKET_EXPIRED: 6,
  F3_ISSUER_MISMATCH: 7,
  F3_TOO_MANY_INSTANCES: 8,
  F3_STARTS_BEFORE_LEASE: 9,
  F3_NOT_READY: 10,
  ACTOR_NOT_FOUND: 11,
  NULL_ROUND: 12,
  PAYMENT_CHANNELS_DISABLED: 13,
  BLOCK_RANGE_EXCEEDED: -32005,
  EXPENSIVE_FORK: -32002,
  LIMIT_EXCEEDED: -32005,
  TIMED_OUT: -32016,
  CANCELLED: 1,
}

/**
 * A failure with a number of its own on the wire. Any other {@link PetrelError} that leaves a handler is answered with
 * number 1 and its text; anything that is no PetrelError is a bug and answered with number 0.
 */
export class RpcError extends PetrelError<RpcErrorCode> {
  /** `data` of the error object. */
  readonly data: Json | undefined

  constructor(code: RpcErrorCode, message: string, options: { data?: Json; info?: ErrorInfo; cause?: unknown } = {}) {
    super(code, message, options.info ?? {}, 'cause' in options ? { cause: options.cause } : undefined)
    this.data = options.data
  }
}

/** Of a call whose deadline has passed. */
export function tooLate(deadlineMs: number): RpcError {
  return new RpcError('TIMED_OUT', `not answered within ${deadlineMs / 1000} s`)
}

/**
 * What Lotus answers where null reaches a pointer that it does not check.
 * @param name - of the method, as it is called
 * @see go-jsonrpc handler.go doCall
 */
export function nilPointer(name: string): RpcError {
  const reason = 'runtime error: invalid memory address or nil pointer dereference'
  return new RpcError('PANIC', `fatal error calling '${name}': panic in rpc method '${name}': ${reason}`)
}
