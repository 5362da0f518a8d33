/** Signatures of `Wallet…`. */
import { type Address, address } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

export const walletBalance: CallSignature<readonly [Param<Address>], TokenAmount> = callSignature({
  name: 'WalletBalance',
  perm: 'read',
  summary: 'Balance of an address in attoFIL, 0 if it has no actor.',
  params: [param('address', address)],
  result: tokenAmount,
})
