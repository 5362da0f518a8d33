/** Methods of the reward actor. @see go-state-types builtin/v9 … v18/reward/methods.go */
import { awardBlockRewardParams, thisEpochRewardReturn } from '../params/reward.ts'
import { storagePower } from '../scalars.ts'
import { type ActorMethod, method } from './actorMethod.ts'

export const rewardMethods: readonly ActorMethod[] = [
  method(1n, 'Constructor', storagePower, null),
  method(2n, 'AwardBlockReward', awardBlockRewardParams, null),
  method(3n, 'ThisEpochReward', null, thisEpochRewardReturn),
  method(4n, 'UpdateNetworkKPI', storagePower, null),
]
