/** State of a payment channel. @see go-state-types builtin/v18/paych */

import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, tuple, uint } from '../codec/description.ts'
import { type Address, address } from '../types/address.ts'
import { type ChosenEpoch, chosenEpoch, type TokenAmount, tokenAmount } from '../types/scalars.ts'

/** Who pays whom, what is owed, and when the channel may be collected: `settlingAt` 0 as long as nobody settles it. */
export interface PaychState {
  readonly from: Address
  readonly to: Address
  readonly toSend: TokenAmount
  readonly settlingAt: ChosenEpoch
  readonly minSettleHeight: ChosenEpoch
  /** AMT (bit width 3) of lanes. */
  readonly laneStates: Cid
}

export const paychState: Codec<PaychState> = tuple<PaychState>('paych.State', [
  ['from', 'From', address],
  ['to', 'To', address],
  ['toSend', 'ToSend', tokenAmount],
  ['settlingAt', 'SettlingAt', chosenEpoch],
  ['minSettleHeight', 'MinSettleHeight', chosenEpoch],
  ['laneStates', 'LaneStates', cid],
])

/** What of a lane is on the chain. */
export interface LaneState {
  readonly redeemed: TokenAmount
  readonly nonce: number
}

export const laneState: Codec<LaneState> = tuple<LaneState>('paych.LaneState', [
  ['redeemed', 'Redeemed', bigInt],
  ['nonce', 'Nonce', uint],
])
