/**
 * Keys that another process holds: Lotus' wallet interface.
 * @see lotus api/api_wallet.go Wallet, MsgMeta; chain/wallet/remotewallet
 */
import type { Address } from '../types/address.ts'
import type { Signature } from '../types/signature.ts'
import type { KeyInfo } from './keyInfo.ts'

/** What is signed, so that who signs can look at it. */
export interface SigningMeta {
  /** `message`: the data is a message's CID (or its Ethereum transaction); `block`: a block header; `unknown`: anything. */
  readonly type: string
  /** CBOR of the message; null for anything else. */
  readonly extra: Uint8Array | null
}

/** A wallet in another process. Each call may fail with what the other process says. */
export interface RemoteKeys {
  newKey(type: string): Promise<Address>
  has(address: Address): Promise<boolean>
  list(): Promise<Address[]>
  sign(address: Address, data: Uint8Array, meta: SigningMeta): Promise<Signature>
  export(address: Address): Promise<KeyInfo>
  import(info: KeyInfo): Promise<Address>
  delete(address: Address): Promise<void>
}

/** Bytes of which nothing is known. */
export const UNKNOWN_DATA: SigningMeta = { type: 'unknown', extra: null }

/** A block header. */
export const BLOCK_DATA: SigningMeta = { type: 'block', extra: null }
