/** Parameters and return values of the data cap actor. @see go-state-types builtin/v9 … v18/datacap */

import type { Codec } from '../../codec/codec.ts'
import { bytes, list, tuple } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'

interface MintParams {
  readonly to: Address
  readonly amount: TokenAmount
  readonly operators: Address[]
}

/** New DataCap for a client, 10^18 a byte; each operator gets an endless allowance over it. Of the verified registry alone. */
export const mintParams: Codec<MintParams> = tuple<MintParams>('datacap.MintParams', [
  ['to', 'To', address],
  ['amount', 'Amount', tokenAmount],
  ['operators', 'Operators', list(address)],
])

interface MintReturn {
  readonly balance: TokenAmount
  readonly supply: TokenAmount
  readonly recipientData: Uint8Array
}

/** Balance and supply afterwards, 10^18 a byte, and what the recipient's hook answered. */
export const mintReturn: Codec<MintReturn> = tuple<MintReturn>('datacap.MintReturn', [
  ['balance', 'Balance', tokenAmount],
  ['supply', 'Supply', tokenAmount],
  ['recipientData', 'RecipientData', bytes],
])

interface DestroyParams {
  readonly owner: Address
  readonly amount: TokenAmount
}

/** DataCap taken from its owner without an allowance, 10^18 a byte. Of the verified registry alone. */
export const destroyParams: Codec<DestroyParams> = tuple<DestroyParams>('datacap.DestroyParams', [
  ['owner', 'Owner', address],
  ['amount', 'Amount', tokenAmount],
])

interface BurnReturn {
  readonly balance: TokenAmount
}

/** The owner's balance afterwards, 10^18 a byte. Destroy answers so, too. */
export const burnReturn: Codec<BurnReturn> = tuple<BurnReturn>('datacap.BurnReturn', [
  ['balance', 'Balance', tokenAmount],
])

interface TransferParams {
  readonly to: Address
  readonly amount: TokenAmount
  readonly operatorData: Uint8Array
}

/** DataCap, 10^18 a byte, to the verified registry (or from it); `operatorData` is CBOR of the allocations asked for. */
export const transferParams: Codec<TransferParams> = tuple<TransferParams>('datacap.TransferParams', [
  ['to', 'To', address],
  ['amount', 'Amount', tokenAmount],
  ['operatorData', 'OperatorData', bytes],
])

interface TransferReturn {
  readonly fromBalance: TokenAmount
  readonly toBalance: TokenAmount
  readonly recipientData: Uint8Array
}

/** Both balances afterwards, 10^18 a byte; from the registry `recipientData` is CBOR of `verifreg.AllocationsResponse`. */
export const transferReturn: Codec<TransferReturn> = tuple<TransferReturn>('datacap.TransferReturn', [
  ['fromBalance', 'FromBalance', tokenAmount],
  ['toBalance', 'ToBalance', tokenAmount],
  ['recipientData', 'RecipientData', bytes],
])

interface TransferFromParams {
  readonly from: Address
  readonly to: Address
  readonly amount: TokenAmount
  readonly operatorData: Uint8Array
}

/** As {@link TransferParams}, by an operator within its allowance; the verified registry is the only recipient. */
export const transferFromParams: Codec<TransferFromParams> = tuple<TransferFromParams>('datacap.TransferFromParams', [
  ['from', 'From', address],
  ['to', 'To', address],
  ['amount', 'Amount', tokenAmount],
  ['operatorData', 'OperatorData', bytes],
])

interface TransferFromReturn {
  readonly fromBalance: TokenAmount
  readonly toBalance: TokenAmount
  readonly allowance: TokenAmount
  readonly recipientData: Uint8Array
}

/** As {@link TransferReturn}, with what is left of the operator's allowance. */
export const transferFromReturn: Codec<TransferFromReturn> = tuple<TransferFromReturn>('datacap.TransferFromReturn', [
  ['fromBalance', 'FromBalance', tokenAmount],
  ['toBalance', 'ToBalance', tokenAmount],
  ['allowance', 'Allowance', tokenAmount],
  ['recipientData', 'RecipientData', bytes],
])

interface IncreaseAllowanceParams {
  readonly operator: Address
  readonly increase: TokenAmount
}

/** Adds to what an operator may move of the caller's DataCap, 10^18 a byte. */
export const increaseAllowanceParams: Codec<IncreaseAllowanceParams> = tuple<IncreaseAllowanceParams>(
  'datacap.IncreaseAllowanceParams',
  [
    ['operator', 'Operator', address],
    ['increase', 'Increase', tokenAmount],
  ],
)

interface DecreaseAllowanceParams {
  readonly operator: Address
  readonly decrease: TokenAmount
}

/** Takes from what an operator may move of the caller's DataCap, 10^18 a byte; never below 0. */
export const decreaseAllowanceParams: Codec<DecreaseAllowanceParams> = tuple<DecreaseAllowanceParams>(
  'datacap.DecreaseAllowanceParams',
  [
    ['operator', 'Operator', address],
    ['decrease', 'Decrease', tokenAmount],
  ],
)

interface RevokeAllowanceParams {
  readonly operator: Address
}

/** `[operator]`: sets the operator's allowance over the caller's DataCap to 0. */
export const revokeAllowanceParams: Codec<RevokeAllowanceParams> = tuple<RevokeAllowanceParams>(
  'datacap.RevokeAllowanceParams',
  [['operator', 'Operator', address]],
)

interface BurnParams {
  readonly amount: TokenAmount
}

/** DataCap of the caller that ceases to be, 10^18 a byte. */
export const burnParams: Codec<BurnParams> = tuple<BurnParams>('datacap.BurnParams', [
  ['amount', 'Amount', tokenAmount],
])

interface BurnFromParams {
  readonly owner: Address
  readonly amount: TokenAmount
}

/** DataCap of another owner that ceases to be, 10^18 a byte, within the caller's allowance. */
export const burnFromParams: Codec<BurnFromParams> = tuple<BurnFromParams>('datacap.BurnFromParams', [
  ['owner', 'Owner', address],
  ['amount', 'Amount', tokenAmount],
])

interface BurnFromReturn {
  readonly balance: TokenAmount
  readonly allowance: TokenAmount
}

/** The owner's balance and the caller's allowance afterwards, 10^18 a byte. */
export const burnFromReturn: Codec<BurnFromReturn> = tuple<BurnFromReturn>('datacap.BurnFromReturn', [
  ['balance', 'Balance', tokenAmount],
  ['allowance', 'Allowance', tokenAmount],
])

interface GetAllowanceParams {
  readonly owner: Address
  readonly operator: Address
}

/** Whose DataCap, and who may move it. */
export const getAllowanceParams: Codec<GetAllowanceParams> = tuple<GetAllowanceParams>('datacap.GetAllowanceParams', [
  ['owner', 'Owner', address],
  ['operator', 'Operator', address],
])
