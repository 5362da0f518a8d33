/** What the network's own actors tell a miner. @see go-state-types builtin/v9 … v18/miner */
import { bytes, type Codec, tuple } from '../../../codec/description.ts'
import { type TokenAmount, tokenAmount } from '../../../types/scalars.ts'
import { type FilterEstimate, filterEstimate } from '../../scalars.ts'

export interface DeferredCronEventParams {
  readonly eventPayload: Uint8Array
  readonly rewardSmoothed: FilterEstimate
  readonly qualityAdjPowerSmoothed: FilterEstimate
}

export const deferredCronEventParams: Codec<DeferredCronEventParams> = tuple<DeferredCronEventParams>(
  'miner.DeferredCronEventParams',
  [
    ['eventPayload', 'EventPayload', bytes],
    ['rewardSmoothed', 'RewardSmoothed', filterEstimate],
    ['qualityAdjPowerSmoothed', 'QualityAdjPowerSmoothed', filterEstimate],
  ],
)

export interface ApplyRewardParams {
  readonly reward: TokenAmount
  readonly penalty: TokenAmount
}

export const applyRewardParams: Codec<ApplyRewardParams> = tuple<ApplyRewardParams>('miner.ApplyRewardParams', [
  ['reward', 'Reward', tokenAmount],
  ['penalty', 'Penalty', tokenAmount],
])
