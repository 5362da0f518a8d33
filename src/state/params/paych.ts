/** Parameters and return values of payment channels. @see go-state-types builtin/v9 … v18/paych */
import { bigInt } from '../../codec/bigInteger.ts'
import type { Codec } from '../../codec/codec.ts'
import { bytes, list, nullable, tuple, uint } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type ChainEpoch, chainEpoch, type MethodNum, methodNum } from '../../types/scalars.ts'
import { type Signature, signature } from '../../types/signature.ts'

export interface ConstructorParams {
  readonly from: Address
  readonly to: Address
}

export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('paych.ConstructorParams', [
  ['from', 'From', address],
  ['to', 'To', address],
])

export interface ModVerifyParams {
  readonly actor: Address
  readonly method: MethodNum
  readonly data: Uint8Array
}

export const modVerifyParams: Codec<ModVerifyParams> = tuple<ModVerifyParams>('paych.ModVerifyParams', [
  ['actor', 'Actor', address],
  ['method', 'Method', methodNum],
  ['data', 'Data', bytes],
])

export interface Merge {
  readonly lane: number
  readonly nonce: number
}

export const merge: Codec<Merge> = tuple<Merge>('paych.Merge', [
  ['lane', 'Lane', uint],
  ['nonce', 'Nonce', uint],
])

export interface SignedVoucher {
  readonly channelAddr: Address
  readonly timeLockMin: ChainEpoch
  readonly timeLockMax: ChainEpoch
  readonly secretHash: Uint8Array
  readonly extra: ModVerifyParams | null
  readonly lane: number
  readonly nonce: number
  readonly amount: bigint
  readonly minSettleHeight: ChainEpoch
  readonly merges: Merge[]
  readonly signature: Signature | null
}

export const signedVoucher: Codec<SignedVoucher> = tuple<SignedVoucher>('paych.SignedVoucher', [
  ['channelAddr', 'ChannelAddr', address],
  ['timeLockMin', 'TimeLockMin', chainEpoch],
  ['timeLockMax', 'TimeLockMax', chainEpoch],
  ['secretHash', 'SecretHash', bytes],
  ['extra', 'Extra', nullable(modVerifyParams)],
  ['lane', 'Lane', uint],
  ['nonce', 'Nonce', uint],
  ['amount', 'Amount', bigInt],
  ['minSettleHeight', 'MinSettleHeight', chainEpoch],
  ['merges', 'Merges', list(merge)],
  ['signature', 'Signature', nullable(signature)],
])

export interface UpdateChannelStateParams {
  readonly sv: SignedVoucher
  readonly secret: Uint8Array
}

export const updateChannelStateParams: Codec<UpdateChannelStateParams> = tuple<UpdateChannelStateParams>(
  'paych.UpdateChannelStateParams',
  [
    ['sv', 'Sv', signedVoucher],
    ['secret', 'Secret', bytes],
  ],
)
