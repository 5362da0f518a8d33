/**
 * The reward actor: pays the block producers.
 * @see builtin-actors v18 actors/reward/src/lib.rs
 */

import { floorDivide } from '../../base/floorDivision.ts'
import { bigInt } from '../../codec/bigInteger.ts'
import type { Codec } from '../../codec/codec.ts'
import { nullable } from '../../codec/description.ts'
import { type ApplyRewardParams, applyRewardParams } from '../../state/params/miner/upkeep.ts'
import {
  type AwardBlockRewardParams,
  awardBlockRewardParams,
  type ThisEpochRewardReturn,
  thisEpochRewardReturn,
} from '../../state/params/reward.ts'
import { type RewardState, rewardState } from '../../state/reward.ts'
import { type Address, idAddress } from '../../types/address.ts'
import { Exit } from '../../types/exitCodes.ts'
import { METHOD_SEND, MinerMethod } from '../../types/methodNumbers.ts'
import { BLOCKS_PER_EPOCH } from '../../types/protocol.ts'
import type { ExitCode } from '../../types/scalars.ts'
import { BURNT_FUNDS_ADDRESS, POWER_ID, SYSTEM_ID } from '../../types/singletons.ts'
import { cborBlock } from '../blocks.ts'
import { command, type NativeActor, nativeActor, query } from '../dispatch.ts'
import { ActorError } from '../errors.ts'
import type { Runtime } from '../runtime.ts'
import { advanceRewardState, createRewardState } from './state.ts'

/** A producer pays the penalties of its messages this many times. */
const PENALTY_MULTIPLIER = 3n

/** Power in bytes, or null: refused. */
export const powerOrNull: Codec<bigint | null> = nullable(bigInt)

function fail(code: ExitCode, message: string): never {
  throw new ActorError(code, message)
}

function construct(runtime: Runtime, power: bigint | null): void {
  runtime.validateCallerIs(SYSTEM_ID)
  if (power === null) fail(Exit.USR_ILLEGAL_ARGUMENT, 'argument should not be nil')
  runtime.create(rewardState, createRewardState(power))
}

function awardBlockReward(runtime: Runtime, params: AwardBlockRewardParams): void {
  runtime.validateCallerIs(SYSTEM_ID)
  const balance = runtime.currentBalance()
  if (params.penalty < 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, `negative penalty ${params.penalty}`)
  if (params.gasReward < 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, `negative gas reward ${params.gasReward}`)
  if (balance < params.gasReward) {
    fail(Exit.USR_ILLEGAL_STATE, `actor current balance ${balance} insufficient to pay gas reward ${params.gasReward}`)
  }
  if (params.winCount <= 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, `invalid win count ${params.winCount}`)
  const miner = runtime.resolveAddress(params.miner)
  if (miner === undefined) fail(Exit.USR_NOT_FOUND, 'failed to resolve given owner address')
  const total = runtime.transaction(rewardState, (state) => {
    let blockReward = floorDivide(state.thisEpochReward * params.winCount, BLOCKS_PER_EPOCH)
    let reward = params.gasReward + blockReward
    const current = runtime.currentBalance()
    if (reward > current) {
      reward = current
      blockReward = reward - params.gasReward
      if (blockReward < 0n) {
        fail(Exit.USR_ILLEGAL_STATE, `programming error, block reward ${blockReward} below zero`)
      }
    }
    return {
      state: { ...state, totalStoragePowerReward: state.totalStoragePowerReward + blockReward },
      result: reward,
    }
  })
  if (total > balance) fail(Exit.USR_ILLEGAL_STATE, `reward ${total} exceeds balance ${balance}`)
  pay(runtime, idAddress(miner), { reward: total, penalty: params.penalty * PENALTY_MULTIPLIER })
}

/** A producer that cannot take its reward loses it: it is burnt, and a failure of that is let go as well. */
function pay(runtime: Runtime, miner: Address, params: ApplyRewardParams): void {
  if (tries(() => runtime.send(miner, MinerMethod.ApplyRewards, cborBlock(applyRewardParams, params), params.reward)))
    return
  tries(() => runtime.send(BURNT_FUNDS_ADDRESS, METHOD_SEND, undefined, params.reward))
}

function tries(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch (error) {
    if (error instanceof ActorError) return false
    throw error
  }
}

function thisEpochReward(runtime: Runtime): ThisEpochRewardReturn {
  runtime.validateCallerAny()
  const { thisEpochRewardSmoothed, thisEpochBaselinePower } = runtime.state(rewardState)
  return { thisEpochRewardSmoothed, thisEpochBaselinePower }
}

function updateNetworkKpi(runtime: Runtime, realizedPower: bigint | null): void {
  runtime.validateCallerIs(POWER_ID)
  if (realizedPower === null) fail(Exit.USR_ILLEGAL_ARGUMENT, 'argument cannot be None')
  runtime.transaction(rewardState, (state: RewardState) => ({
    state: advanceRewardState(state, runtime.epoch, realizedPower, runtime.gas),
    result: undefined,
  }))
}

/** The reward actor's methods. */
export function createRewardActor(): NativeActor {
  return nativeActor('reward', {
    Constructor: command(powerOrNull, construct),
    AwardBlockReward: command(awardBlockRewardParams, awardBlockReward),
    ThisEpochReward: query(thisEpochRewardReturn, thisEpochReward),
    UpdateNetworkKPI: command(powerOrNull, updateNetworkKpi),
  })
}
