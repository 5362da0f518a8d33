/** Parameters and return values of payment channels. @see go-state-types builtin/v9 … v18/paych */
import { bigInt } from '../../codec/bigInteger.ts'
import type { Codec } from '../../codec/codec.ts'
import { bytes, list, nullable, tuple, uint } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type ChosenEpoch, chosenEpoch, type MethodNum, methodNum } from '../../types/scalars.ts'
import { type Signature, signature } from '../../types/signature.ts'

interface ConstructorParams {
  readonly from: Address
  readonly to: Address
}

/** Who pays and who is paid; both must be able to sign. */
export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('paych.ConstructorParams', [
  ['from', 'From', address],
  ['to', 'To', address],
])

/** A call that must succeed before a voucher counts; it gets `data` and the proof given with the voucher. */
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

interface Merge {
  readonly lane: number
  readonly nonce: number
}

const merge: Codec<Merge> = tuple<Merge>('paych.Merge', [
  ['lane', 'Lane', uint],
  ['nonce', 'Nonce', uint],
])

/** A promise of `amount` attoFIL in all on a lane, signed over the CBOR without signature. `timeLockMax` 0: no last epoch. */
export interface SignedVoucher {
  readonly channelAddr: Address
  readonly timeLockMin: ChosenEpoch
  readonly timeLockMax: ChosenEpoch
  readonly secretHash: Uint8Array
  readonly extra: ModVerifyParams | null
  readonly lane: number
  readonly nonce: number
  readonly amount: bigint
  readonly minSettleHeight: ChosenEpoch
  readonly merges: Merge[]
  readonly signature: Signature | null
}

export const signedVoucher: Codec<SignedVoucher> = tuple<SignedVoucher>('paych.SignedVoucher', [
  ['channelAddr', 'ChannelAddr', address],
  ['timeLockMin', 'TimeLockMin', chosenEpoch],
  ['timeLockMax', 'TimeLockMax', chosenEpoch],
  ['secretHash', 'SecretHash', bytes],
  ['extra', 'Extra', nullable(modVerifyParams)],
  ['lane', 'Lane', uint],
  ['nonce', 'Nonce', uint],
  ['amount', 'Amount', bigInt],
  ['minSettleHeight', 'MinSettleHeight', chosenEpoch],
  ['merges', 'Merges', list(merge)],
  ['signature', 'Signature', nullable(signature)],
])

interface UpdateChannelStateParams {
  readonly sv: SignedVoucher
  readonly secret: Uint8Array
}

/** A voucher to redeem, and the preimage of its `secretHash` where it has one (256 bytes at most). */
export const updateChannelStateParams: Codec<UpdateChannelStateParams> = tuple<UpdateChannelStateParams>(
  'paych.UpdateChannelStateParams',
  [
    ['sv', 'Sv', signedVoucher],
    ['secret', 'Secret', bytes],
  ],
)
