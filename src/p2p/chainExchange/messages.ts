/**
 * What the chain exchange says on the wire.
 * @see lotus chain/exchange/protocol.go, protocol_encoding.go; forest src/libp2p/chain_exchange
 */
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, list, nullable, text, tuple, u64, uint } from '../../codec/description.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { type Message, message } from '../../types/message.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import { MAX_BLOCKS, MAX_INDICES, MAX_LENGTH, MAX_MESSAGES } from './limits.ts'

/** The protocol's name when a stream is opened. */
export const CHAIN_EXCHANGE_PROTOCOL = '/fil/chain/xchg/0.0.1'

/** Bits of {@link ExchangeRequest.options}; others mean nothing. */
export const OPTION_HEADERS = 1n
export const OPTION_MESSAGES = 2n

/** Status of an answer. Those besides success and a partial answer are failures of the peer or of the question. */
export const STATUS_OK = 0
/** Fewer tipsets than asked for. */
export const STATUS_PARTIAL = 101
/** The head is unknown. */
export const STATUS_NOT_FOUND = 201
/** Too busy. */
export const STATUS_GO_AWAY = 202
export const STATUS_INTERNAL_ERROR = 203
export const STATUS_BAD_REQUEST = 204

/** Asks for headers, messages or both, by the bits of `options`. */
export interface ExchangeRequest {
  /** In any order. */
  readonly head: Cid[]
  /** Tipsets from `head` down. */
  readonly length: bigint
  readonly options: bigint
}

/** A tipset's messages, each once, in order of first use; the includes name them by block. */
export interface CompactedMessages {
  readonly bls: Message[]
  /** For each block its messages, as indices into `bls`. */
  readonly blsIncludes: number[][]
  readonly secpk: SignedMessage[]
  readonly secpkIncludes: number[][]
}

/** One tipset of an answer, as far as it was asked for. */
export interface ExchangeTipset {
  /** Empty when no headers were asked for. */
  readonly blocks: BlockHeader[]
  readonly messages: CompactedMessages | null
}

/** An answer: a status, and tipsets where it is {@link STATUS_OK} or partial. */
export interface ExchangeResponse {
  readonly status: number
  /** Empty when all went well. */
  readonly errorMessage: string
  /** From the head downwards. */
  readonly chain: ExchangeTipset[]
}

/** CBOR array of 3. */
export const exchangeRequest: Codec<ExchangeRequest> = tuple<ExchangeRequest>('exchange.Request', [
  ['head', 'Head', list(cid, MAX_BLOCKS)],
  ['length', 'Length', u64],
  ['options', 'Options', u64],
])

const includes: Codec<number[][]> = list(list(uint, MAX_INDICES), MAX_BLOCKS)

/** CBOR array of 4. */
const compactedMessages: Codec<CompactedMessages> = tuple<CompactedMessages>('exchange.CompactedMessages', [
  ['bls', 'Bls', list(message, MAX_MESSAGES)],
  ['blsIncludes', 'BlsIncludes', includes],
  ['secpk', 'Secpk', list(signedMessage, MAX_MESSAGES)],
  ['secpkIncludes', 'SecpkIncludes', includes],
])

/** CBOR array of 2. */
export const exchangeTipset: Codec<ExchangeTipset> = tuple<ExchangeTipset>('exchange.BSTipSet', [
  ['blocks', 'Blocks', list(blockHeader, MAX_BLOCKS)],
  ['messages', 'Messages', nullable(compactedMessages)],
])

/** CBOR array of 3. */
export const exchangeResponse: Codec<ExchangeResponse> = tuple<ExchangeResponse>('exchange.Response', [
  ['status', 'Status', uint],
  ['errorMessage', 'ErrorMessage', text],
  ['chain', 'Chain', list(exchangeTipset, MAX_LENGTH)],
])
