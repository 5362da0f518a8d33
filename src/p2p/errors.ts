/** Errors between nodes. */
import { PetrelError } from '../base/errors.ts'

/** What went wrong between nodes. */
export type P2pErrorCode =
  | 'NO_PEERS'
  | 'ALL_PEERS_FAILED'
  | 'PROTOCOL_UNSUPPORTED'
  | 'BAD_ANSWER'
  | 'MALFORMED'
  | 'ENDED_EARLY'
  | 'PEER_REFUSED'
  | 'TOO_LARGE'
  | 'TIMEOUT'
  | 'STREAM_RESET'
  | 'NOT_CONNECTED'
  | 'DIAL_FAILED'
  | 'PEER_BANNED'
  | 'BAD_ADDRESS'
  | 'BAD_IDENTITY'
  | 'NOT_FOUND'
  | 'NOT_STARTED'
  | 'NOT_SUPPORTED'

/** What went wrong with a peer, a connection, or what came over it. */
export class P2pError extends PetrelError<P2pErrorCode> {}
