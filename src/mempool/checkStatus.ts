/**
 * The answers of MpoolCheckMessages and its kin: one line per check and message.
 * @see lotus api/types.go CheckStatus, MessageCheckStatus
 */
import type { Cid } from '../codec/cid.ts'
import { bool, type Codec, cid, int, json, struct, text } from '../codec/description.ts'
import type { Json } from '../codec/jsonText.ts'
import { type Message, message } from '../types/message.ts'

/** Numbers of the checks on the wire. */
export const CHECK = {
  SERIALIZE: 1,
  SIZE: 2,
  VALIDITY: 3,
  MIN_GAS: 4,
  MIN_BASE_FEE: 5,
  BASE_FEE: 6,
  BASE_FEE_LOWER_BOUND: 7,
  BASE_FEE_UPPER_BOUND: 8,
  GET_STATE_NONCE: 9,
  NONCE: 10,
  GET_STATE_BALANCE: 11,
  BALANCE: 12,
} as const

/** One check of one message. */
export interface MessageCheck {
  readonly cid: Cid
  readonly code: number
  readonly ok: boolean
  /** What is wrong; a warning where `ok` is true. */
  readonly err: string
  /** Figures behind the verdict, ready for JSON; null when there are none. */
  readonly hint: Json
}

/** JSON `MessageCheckStatus`. */
export const messageCheck: Codec<MessageCheck> = struct<MessageCheck>('api.MessageCheckStatus', [
  ['cid', 'Cid', cid],
  ['code', 'Code', int],
  ['ok', 'OK', bool],
  ['err', 'Err', text],
  ['hint', 'Hint', json],
])

/** A message to be checked, or to be sent by the caller. */
export interface MessagePrototype {
  readonly message: Message
  /** The nonce counts; otherwise any nonce passes. */
  readonly validNonce: boolean
}

/** JSON `MessagePrototype`. */
export const messagePrototype: Codec<MessagePrototype> = struct<MessagePrototype>('api.MessagePrototype', [
  ['message', 'Message', message],
  ['validNonce', 'ValidNonce', bool],
])
