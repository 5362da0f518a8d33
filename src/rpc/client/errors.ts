/** Errors of a client of JSON-RPC. */
import { PetrelError } from '../../base/errors.ts'

/**
 * `UNREACHABLE`: no answer came; it may or may not have been carried out. `CLOSED`: the connection ended meanwhile.
 * `UNAUTHORIZED`: the token is not accepted. `BAD_ANSWER`: what came is no JSON-RPC, or not what the method answers.
 * `REMOTE`: the node's own error; `info.code` is its number, the message its text. `NOT_SUPPORTED`: by this transport.
 */
export type RpcClientErrorCode = 'UNREACHABLE' | 'CLOSED' | 'UNAUTHORIZED' | 'BAD_ANSWER' | 'REMOTE' | 'NOT_SUPPORTED'

/** What a client throws. */
export class RpcClientError extends PetrelError<RpcClientErrorCode> {}
