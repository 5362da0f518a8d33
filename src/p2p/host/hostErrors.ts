/** libp2p's errors as ours. */
import { errorMessage } from '../../base/errors.ts'
import { P2pError, type P2pErrorCode } from '../errors.ts'

const REASONS_TOLD = 4

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
  return new P2pError(CODES.get(name) ?? otherwise, `${what}: ${reasonOf(cause)}`, {}, { cause })
}

/** Of a peer with several addresses libp2p says only that all failed: each has a reason of its own. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof AggregateError)) return errorMessage(cause)
  const reasons = new Set(cause.errors.map((error) => errorMessage(error)))
  return `${cause.message}: ${[...reasons].slice(0, REASONS_TOLD).join('; ')}`
}
