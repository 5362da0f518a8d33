/** What the network's own actors tell a miner. @see go-state-types builtin/v9 … v18/miner */
import { bytes, type Codec, tuple } from '../../../codec/description.ts'
import { type TokenAmount, tokenAmount } from '../../../types/scalars.ts'
import { type FilterEstimate, filterEstimate } from '../../scalars.ts'

interface DeferredCronEventParams {
  readonly eventPayload: Uint8Array
  readonly rewardSmoothed: FilterEstimate
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

/** CBOR that the miner had enrolled with the power actor, with estimates of reward and power. */
export const deferredCronEventParams: Codec<DeferredCronEventParams> = tuple<DeferredCronEventParams>(
  'miner.DeferredCronEventParams',
  [
    ['eventPayload', 'EventPayload', bytes],
    ['rewardSmoothed', 'RewardSmoothed', filterEstimate],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ],
)

/** A block's reward, three quarters of which vest over 180 days, and a fine; attoFIL. */
export interface ApplyRewardParams {
  readonly reward: TokenAmount
  readonly penalty: TokenAmount
}

export const applyRewardParams: Codec<ApplyRewardParams> = tuple<ApplyRewardParams>('miner.ApplyRewardParams', [
  ['reward', 'Reward', tokenAmount],
  ['penalty', 'Penalty', tokenAmount],
])
