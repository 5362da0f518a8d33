/** State of the data cap actor (f07), an FRC-46 token; from version 9. @see go-state-types builtin/v18/datacap */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, tuple, uint } from '../codec/description.ts'
import { type Address, address } from '../types/address.ts'
import { type TokenAmount, tokenAmount } from '../types/scalars.ts'

/** Balances and allowances of the token. */
interface TokenState {
  /** In units of 10^-18 byte. */
  readonly supply: TokenAmount
  /** HAMT of actor id to balance, of the bit width below. */
  readonly balances: Cid
  /** HAMT of owner to HAMT of operator to allowance. */
  readonly allowances: Cid
  readonly hamtBitWidth: number
}

/** The token, and who may mint and destroy it. */
export interface DatacapState {
  readonly governor: Address
  readonly token: TokenState
}

const tokenState: Codec<TokenState> = tuple<TokenState>('datacap.TokenState', [
  ['supply', 'Supply', tokenAmount],
  ['balances', 'Balances', cid],
  ['allowances', 'Allowances', cid],
  ['hamtBitWidth', 'HamtBitWidth', uint],
])

export const datacapState: Codec<DatacapState> = tuple<DatacapState>('datacap.State', [
  ['governor', 'Governor', address],
  ['token', 'Token', tokenState],
])
