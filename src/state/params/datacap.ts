/** Parameters and return values of the data cap actor. @see go-state-types builtin/v9 … v18/datacap */

import type { Codec } from '../../codec/codec.ts'
import { bytes, list, tuple } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'

export interface MintParams {
  readonly to: Address
  readonly amount: TokenAmount
  readonly operators: Address[]
}

export const mintParams: Codec<MintParams> = tuple<MintParams>('datacap.MintParams', [
  ['to', 'To', address],
  ['amount', 'Amount', tokenAmount],
  ['operators', 'Operators', list(address)],
])

export interface MintReturn {
  readonly balance: TokenAmount
  readonly supply: TokenAmount
  readonly recipientData: Uint8Array
}

export const mintReturn: Codec<MintReturn> = tuple<MintReturn>('datacap.MintReturn', [
  ['balance', 'Balance', tokenAmount],
  ['supply', 'Supply', tokenAmount],
  ['recipientData', 'RecipientData', bytes],
])

export interface DestroyParams {
  readonly owner: Address
  readonly amount: TokenAmount
}

export const destroyParams: Codec<DestroyParams> = tuple<DestroyParams>('datacap.DestroyParams', [
  ['owner', 'Owner', address],
  ['amount', 'Amount', tokenAmount],
])

export interface BurnReturn {
  readonly balance: TokenAmount
}

export const burnReturn: Codec<BurnReturn> = tuple<BurnReturn>('datacap.BurnReturn', [
  ['balance', 'Balance', tokenAmount],
])

export interface TransferParams {
  readonly to: Address
  readonly amount: TokenAmount
  readonly operatorData: Uint8Array
}

export const transferParams: Codec<TransferParams> = tuple<TransferParams>('datacap.TransferParams', [
  ['to', 'To', address],
  ['amount', 'Amount', tokenAmount],
  ['operatorData', 'OperatorData', bytes],
])

export interface TransferReturn {
  readonly fromBalance: TokenAmount
  readonly toBalance: TokenAmount
  readonly recipientData: Uint8Array
}

export const transferReturn: Codec<TransferReturn> = tuple<TransferReturn>('datacap.TransferReturn', [
  ['fromBalance', 'FromBalance', tokenAmount],
  ['toBalance', 'ToBalance', tokenAmount],
  ['recipientData', 'RecipientData', bytes],
])

export interface TransferFromParams {
  readonly from: Address
  readonly to: Address
  readonly amount: TokenAmount
  readonly operatorData: Uint8Array
}

export const transferFromParams: Codec<TransferFromParams> = tuple<TransferFromParams>('datacap.TransferFromParams', [
  ['from', 'From', address],
  ['to', 'To', address],
  ['amount', 'Amount', tokenAmount],
  ['operatorData', 'OperatorData', bytes],
])

export interface TransferFromReturn {
  readonly fromBalance: TokenAmount
  readonly toBalance: TokenAmount
  readonly allowance: TokenAmount
  readonly recipientData: Uint8Array
}

export const transferFromReturn: Codec<TransferFromReturn> = tuple<TransferFromReturn>('datacap.TransferFromReturn', [
  ['fromBalance', 'FromBalance', tokenAmount],
  ['toBalance', 'ToBalance', tokenAmount],
  ['allowance', 'Allowance', tokenAmount],
  ['recipientData', 'RecipientData', bytes],
])

export interface IncreaseAllowanceParams {
  readonly operator: Address
  readonly increase: TokenAmount
}

export const increaseAllowanceParams: Codec<IncreaseAllowanceParams> = tuple<IncreaseAllowanceParams>(
  'datacap.IncreaseAllowanceParams',
  [
    ['operator', 'Operator', address],
    ['increase', 'Increase', tokenAmount],
  ],
)

export interface DecreaseAllowanceParams {
  readonly operator: Address
  readonly decrease: TokenAmount
}

export const decreaseAllowanceParams: Codec<DecreaseAllowanceParams> = tuple<DecreaseAllowanceParams>(
  'datacap.DecreaseAllowanceParams',
  [
    ['operator', 'Operator', address],
    ['decrease', 'Decrease', tokenAmount],
  ],
)

export interface RevokeAllowanceParams {
  readonly operator: Address
}

export const revokeAllowanceParams: Codec<RevokeAllowanceParams> = tuple<RevokeAllowanceParams>(
  'datacap.RevokeAllowanceParams',
  [['operator', 'Operator', address]],
)

export interface BurnParams {
  readonly amount: TokenAmount
}

export const burnParams: Codec<BurnParams> = tuple<BurnParams>('datacap.BurnParams', [
  ['amount', 'Amount', tokenAmount],
])

export interface BurnFromParams {
  readonly owner: Address
  readonly amount: TokenAmount
}

export const burnFromParams: Codec<BurnFromParams> = tuple<BurnFromParams>('datacap.BurnFromParams', [
  ['owner', 'Owner', address],
  ['amount', 'Amount', tokenAmount],
])

export interface BurnFromReturn {
  readonly balance: TokenAmount
  readonly allowance: TokenAmount
}

export const burnFromReturn: Codec<BurnFromReturn> = tuple<BurnFromReturn>('datacap.BurnFromReturn', [
  ['balance', 'Balance', tokenAmount],
  ['allowance', 'Allowance', tokenAmount],
])

export interface GetAllowanceParams {
  readonly owner: Address
  readonly operator: Address
}

export const getAllowanceParams: Codec<GetAllowanceParams> = tuple<GetAllowanceParams>('datacap.GetAllowanceParams', [
  ['owner', 'Owner', address],
  ['operator', 'Operator', address],
])
