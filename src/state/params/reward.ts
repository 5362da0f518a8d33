/** Parameters and return values of the reward actor. @see go-state-types builtin/v9 … v18/reward */
import type { Codec } from '../../codec/codec.ts'
import { i64, tuple } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import { type TokenAmount, tokenAmount } from '../../types/scalars.ts'
import { type FilterEstimate, filterEstimate, type StoragePower, storagePower } from '../scalars.ts'

/** The producer of a block, what it is fined and what its messages tipped (attoFIL), and how often it won. */
export interface AwardBlockRewardParams {
  readonly miner: Address
  readonly penalty: TokenAmount
  readonly gasReward: TokenAmount
  readonly winCount: bigint
}

export const awardBlockRewardParams: Codec<AwardBlockRewardParams> = tuple<AwardBlockRewardParams>(
  'reward.AwardBlockRewardParams',
  [
    ['miner', 'Miner', address],
    ['penalty', 'Penalty', tokenAmount],
    ['gasReward', 'GasReward', tokenAmount],
    ['winCount', 'WinCount', i64],
  ],
)

/** The smoothed reward of an epoch (attoFIL, fixed point of 128 bits) and the baseline power in bytes. */
export interface ThisEpochRewardReturn {
  readonly thisEpochRewardSmoothed: FilterEstimate
  readonly thisEpochBaselinePower: StoragePower
}

export const thisEpochRewardReturn: Codec<ThisEpochRewardReturn> = tuple<ThisEpochRewardReturn>(
  'reward.ThisEpochRewardReturn',
  [
    ['thisEpochRewardSmoothed', 'ThisEpochRewardSmoothed', filterEstimate],
    ['thisEpochBaselinePower', 'ThisEpochBaselinePower', storagePower],
  ],
)
