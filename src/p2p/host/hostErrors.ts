/** libp2p's errors as ours. */
import { errorMessage } from '../../base/errors.ts'
import { P2pError, type P2pErrorCode } from '../errors.ts'

const CODES: ReadonlyMap<string, P2pErrorCode> = new Map([
  ['AbortError', 'TIMEOUT'],
  ['TimeoutError', 'TIMEOUT'],
  ['UnsupportedProtocolError', 'PROTOCOL_UNSUPPORTED'],
  ['NotStartedError', 'NOT_STARTED'],
  ['DialDeniedError', 'PEER_BANNED'],
  ['InvalidMultiaddrError', 'BAD_ADDRESS'],
  ['NoValidAddressesError', 'BAD_ADDRESS'],
])

/** @param otherwise - for what libp2p has no name of its own */
export function hostError(what: string, cause: unknown, otherwise: P2pErrorCode): P2pError {
  if (cause instanceof P2pError) return cause
  const name = cause instanceof Error ? cause.name : ''
  return new P2pError(CODES.get(name) ?? otherwise, `${what}: ${errorMessage(cause)}`, {}, { cause })
}
