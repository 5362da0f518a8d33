/**
 * What may be held against a peer, and what follows: the one place where that is decided. A peer is banned for what an
 * honest one cannot do; everything else (it is slow, far away, or knows another chain) lowers its place in every queue.
 */
import { BaseError, type BaseErrorCode } from '../base/errors.ts'
import { CodecError, type CodecErrorCode } from '../codec/errors.ts'
import { F3Error, type F3ErrorCode } from '../consensus/f3/errors.ts'
import { P2pError, type P2pErrorCode } from './errors.ts'

/** What a peer did. */
export type Fault =
  /** Its hello names another genesis. */
  | 'OTHER_GENESIS'
  /** Bytes that are no message of the protocol. */
  | 'GARBAGE'
  /** More bytes than the protocol's other programs send or read. */
  | 'OVERSIZED'
  /** An answer that the question, or the CIDs in it, contradict. */
  | 'FALSE_ANSWER'
  /** It names a head that no node can have found valid. */
  | 'FALSE_HEAD'
  | 'FALSE_CERTIFICATE'
  /** It said less than it began to say. */
  | 'CUT_OFF'
  | 'SLOW'
  /** More requests or streams than are answered. */
  | 'FLOOD'
  /** Blocks that were not asked for: they may be late by any time. */
  | 'UNASKED'
  /** A target that leads to another genesis: a block is passed on before anybody has looked at its parents. */
  | 'DEAD_END'

/** What follows from a fault. */
export type Penalty = 'ban' | 'lower place'

const PENALTIES: Readonly<Record<Fault, Penalty>> = {
  OTHER_GENESIS: 'ban',
  GARBAGE: 'ban',
  OVERSIZED: 'ban',
  FALSE_ANSWER: 'ban',
  FALSE_HEAD: 'ban',
  FALSE_CERTIFICATE: 'ban',
  CUT_OFF: 'lower place',
  SLOW: 'lower place',
  FLOOD: 'lower place',
  UNASKED: 'lower place',
  DEAD_END: 'lower place',
}

type Faults<Code extends string> = Readonly<Record<Code, Fault | 'none'>>

const OF_P2P: Faults<P2pErrorCode> = {
  NO_PEERS: 'none',
  ALL_PEERS_FAILED: 'none',
  PROTOCOL_UNSUPPORTED: 'none',
  BAD_ANSWER: 'FALSE_ANSWER',
  MALFORMED: 'GARBAGE',
  ENDED_EARLY: 'CUT_OFF',
  PEER_REFUSED: 'none',
  TOO_LARGE: 'OVERSIZED',
  TIMEOUT: 'SLOW',
  STREAM_RESET: 'none',
  NOT_CONNECTED: 'none',
  DIAL_FAILED: 'none',
  PEER_BANNED: 'none',
  BAD_ADDRESS: 'none',
  BAD_IDENTITY: 'none',
  NOT_FOUND: 'none',
  NOT_STARTED: 'none',
  NOT_SUPPORTED: 'none',
}

const OF_CODEC: Faults<CodecErrorCode> = {
  TRUNCATED: 'GARBAGE',
  TRAILING_BYTES: 'GARBAGE',
  NOT_CANONICAL: 'GARBAGE',
  WRONG_TYPE: 'GARBAGE',
  WRONG_LENGTH: 'GARBAGE',
  // Numbers above 2^53: Lotus can read them, and hands on in good faith what has them.
  OUT_OF_RANGE: 'none',
  TOO_LARGE: 'GARBAGE',
  TOO_DEEP: 'GARBAGE',
  INVALID_UTF8: 'GARBAGE',
  INVALID_CID: 'GARBAGE',
  UNDEFINED_CID: 'GARBAGE',
  INVALID_ADDRESS: 'GARBAGE',
  INVALID_JSON: 'GARBAGE',
  INVALID_RLP: 'GARBAGE',
  INVALID_BITFIELD: 'GARBAGE',
  INVALID_CAR: 'GARBAGE',
  INVALID_ZSTD: 'GARBAGE',
  NOT_SUPPORTED: 'none',
}

const OF_BASE: Faults<BaseErrorCode> = {
  INVALID_ENCODING: 'GARBAGE',
  OUT_OF_RANGE: 'none',
  CLOSED: 'none',
  UNREACHABLE: 'none',
}

const OF_F3: Faults<F3ErrorCode> = {
  // Another peer may have brought it meanwhile.
  INSTANCE_WRONG: 'none',
  CHAIN_TOO_LONG: 'FALSE_CERTIFICATE',
  CHAIN_TIPSET_WRONG: 'FALSE_CERTIFICATE',
  CHAIN_EPOCHS_WRONG: 'FALSE_CERTIFICATE',
  CHAIN_EMPTY: 'FALSE_CERTIFICATE',
  BASE_WRONG: 'FALSE_CERTIFICATE',
  POWER_TABLE_WRONG: 'FALSE_CERTIFICATE',
  SIGNER_UNKNOWN: 'FALSE_CERTIFICATE',
  SIGNER_WITHOUT_POWER: 'FALSE_CERTIFICATE',
  NO_QUORUM: 'FALSE_CERTIFICATE',
  SIGNATURE_INVALID: 'FALSE_CERTIFICATE',
  DELTA_NOT_SORTED: 'FALSE_CERTIFICATE',
  DELTA_WRONG: 'FALSE_CERTIFICATE',
  NEXT_TABLE_WRONG: 'FALSE_CERTIFICATE',
  DISABLED: 'none',
  NOT_RUNNING: 'none',
  BOOTSTRAP_OUT_OF_REACH: 'none',
  NOT_FOUND: 'none',
  FUTURE_INSTANCE: 'none',
  MANIFEST_WRONG: 'none',
  STORE_CORRUPT: 'none',
}

/** Whether text is the name of a fault. */
export function isFault(text: string): text is Fault {
  return Object.hasOwn(PENALTIES, text)
}

/** What follows from a fault. */
export function penaltyOf(fault: Fault): Penalty {
  return PENALTIES[fault]
}

/** What an error shows that reading a peer's bytes, or checking what they say, ended with; undefined: nothing of the peer. */
export function faultOf(error: unknown): Fault | undefined {
  const fault = lookUp(error)
  return fault === 'none' ? undefined : fault
}

function lookUp(error: unknown): Fault | 'none' {
  if (error instanceof P2pError) return OF_P2P[error.code]
  if (error instanceof CodecError) return OF_CODEC[error.code]
  if (error instanceof F3Error) return OF_F3[error.code]
  return error instanceof BaseError ? OF_BASE[error.code] : 'none'
}
