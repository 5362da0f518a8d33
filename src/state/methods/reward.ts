import { METHOD_CONSTRUCTOR, RewardMethod } from '../../types/methodNumbers.ts'
import { awardBlockRewardParams, thisEpochRewardReturn } from '../params/reward.ts'
import { storagePower } from '../scalars.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the reward actor. @see go-state-types builtin/v9 … v18/reward/methods.go */
export const rewardMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', storagePower, null),
  method(RewardMethod.AwardBlockReward, 'AwardBlockReward', awardBlockRewardParams, null),
  method(RewardMethod.ThisEpochReward, 'ThisEpochReward', null, thisEpochRewardReturn),
  method(RewardMethod.UpdateNetworkKPI, 'UpdateNetworkKPI', storagePower, null),
]
