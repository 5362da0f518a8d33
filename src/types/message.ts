/**
 * Messages: what a sender asks the chain to do.
 * @see lotus chain/types/message.go
 */
import type { Cid } from '../codec/cid.ts'
import { bytesUpTo, type Codec, cid, encode, tuple, uint } from '../codec/description.ts'
import { type Field, withShown } from '../codec/structJson.ts'
import { blockCid } from '../crypto/blockCid.ts'
import { type Address, address } from './address.ts'
import { MAX_BYTE_STRING } from './protocol.ts'
import { gas, type MethodNum, methodNum, type Nonce, nonce, type TokenAmount, tokenAmount } from './scalars.ts'

/** An unsigned message. */
export interface Message {
  /** Always 0. */
  readonly version: number
  readonly to: Address
  readonly from: Address
  readonly nonce: Nonce
  readonly value: TokenAmount
  /** Units of gas. */
  readonly gasLimit: bigint
  /** AttoFIL per unit of gas. */
  readonly gasFeeCap: TokenAmount
  /** AttoFIL per unit of gas. */
  readonly gasPremium: TokenAmount
  /** 0 is a plain transfer. */
  readonly method: MethodNum
  /** Empty: none. */
  readonly params: Uint8Array
}

const fields: readonly Field<Message>[] = [
  ['version', 'Version', uint],
  ['to', 'To', address],
  ['from', 'From', address],
  ['nonce', 'Nonce', nonce],
  ['value', 'Value', tokenAmount],
  ['gasLimit', 'GasLimit', gas],
  ['gasFeeCap', 'GasFeeCap', tokenAmount],
  ['gasPremium', 'GasPremium', tokenAmount],
  ['method', 'Method', methodNum],
  ['params', 'Params', bytesUpTo(MAX_BYTE_STRING)],
]

const cids = new WeakMap<Message, Cid>()
const base: Codec<Message> = tuple<Message>('types.Message', fields)

/** CBOR array of 10. JSON has also `CID`, of the unsigned message; it is ignored on input. */
export const message: Codec<Message> = withShown(base, 'CID', cid, messageCid)

/** CID of the unsigned message: what is signed are its bytes. Remembered per object, messages are immutable. */
export function messageCid(value: Message): Cid {
  let known = cids.get(value)
  if (known === undefined) {
    known = blockCid(encode(message, value))
    cids.set(value, known)
  }
  return known
}
