/** State of the reward actor (f02). @see go-state-types builtin/v18/reward; specs-actors v0.9.14 */
import { bigInt } from '../codec/bigInteger.ts'
import type { Codec } from '../codec/description.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../types/scalars.ts'
import { type FilterEstimate, filterEstimate, type StoragePower, storagePower } from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** What of the reward is minted, and how fast: simple minting, and minting by power against a baseline. */
export interface RewardState {
  /** Byte-epochs of the baseline up to the effective network time. */
  readonly cumsumBaseline: bigint
  /** Byte-epochs of power, capped by the baseline. */
  readonly cumsumRealized: bigint
  readonly effectiveNetworkTime: ChainEpoch
  readonly effectiveBaselinePower: StoragePower
  /** AttoFIL per expected win times the expected wins. */
  readonly thisEpochReward: TokenAmount
  readonly thisEpochRewardSmoothed: FilterEstimate
  readonly thisEpochBaselinePower: StoragePower
  readonly epoch: ChainEpoch
  /** Only before version 2. */
  readonly totalMined?: TokenAmount
  readonly totalStoragePowerReward: TokenAmount
  readonly simpleTotal: TokenAmount
  readonly baselineTotal: TokenAmount
}

export const rewardStateAt: (actorsVersion: number) => Codec<RewardState> = versionedTuple<RewardState>(
  'reward.State',
  [
    ['cumsumBaseline', 'CumsumBaseline', bigInt],
    ['cumsumRealized', 'CumsumRealized', bigInt],
    ['effectiveNetworkTime', 'EffectiveNetworkTime', chainEpoch],
    ['effectiveBaselinePower', 'EffectiveBaselinePower', storagePower],
    ['thisEpochReward', 'ThisEpochReward', tokenAmount],
    ['thisEpochRewardSmoothed', 'ThisEpochRewardSmoothed', filterEstimate],
    ['thisEpochBaselinePower', 'ThisEpochBaselinePower', storagePower],
    ['epoch', 'Epoch', chainEpoch],
    ['totalMined', 'TotalMined', tokenAmount, { until: 0 }],
    ['totalStoragePowerReward', 'TotalStoragePowerReward', tokenAmount, { from: 2 }],
    ['simpleTotal', 'SimpleTotal', tokenAmount, { from: 2 }],
    ['baselineTotal', 'BaselineTotal', tokenAmount, { from: 2 }],
  ],
)
export const rewardState: Codec<RewardState> = rewardStateAt(18)
