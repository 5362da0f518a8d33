import { type Codec, tuple } from '../codec/description.ts'
import { type Address, address } from '../types/address.ts'

/** State of an account: its key address. @see go-state-types builtin/v18/account */
export interface AccountState {
  /** The f1 or f3 address whose key signs for the account. */
  readonly address: Address
}

export const accountState: Codec<AccountState> = tuple<AccountState>('account.State', [['address', 'Address', address]])
