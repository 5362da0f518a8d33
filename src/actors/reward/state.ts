/**
 * How the reward actor's state follows the epochs.
 * @see builtin-actors v18 actors/reward/src/state.rs
 */
import type { RewardState } from '../../state/reward.ts'
import { ActorsError } from '../errors.ts'
import { createFilterEstimate, nextEstimate } from '../filterEstimate.ts'
import type { WasmGas } from '../wasmGas.ts'
import {
  BASELINE_INITIAL_VALUE,
  BASELINE_TOTAL,
  computeReward,
  computeRewardTheta,
  INIT_BASELINE_POWER,
  nextBaselinePower,
  SIMPLE_TOTAL,
} from './schedule.ts'

/** First estimate of the reward of an epoch and of its change per epoch, attoFIL. */
const INITIAL_REWARD_POSITION = 36266260308195979333n
const INITIAL_REWARD_VELOCITY = -109897758509n
const EPOCH_UNDEFINED = -1
/** Epochs that are walked at once, at most: a year. */
const MAX_CATCH_UP = 1_000_000

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** State of a network with this much power, bytes, before its first epoch. */
export function createRewardState(realizedPower: bigint): RewardState {
  const state: Mutable<RewardState> = {
    cumsumBaseline: 0n,
    cumsumRealized: 0n,
    effectiveNetworkTime: 0,
    effectiveBaselinePower: BASELINE_INITIAL_VALUE,
    thisEpochReward: 0n,
    thisEpochRewardSmoothed: createFilterEstimate(INITIAL_REWARD_POSITION, INITIAL_REWARD_VELOCITY),
    thisEpochBaselinePower: INIT_BASELINE_POWER,
    epoch: EPOCH_UNDEFINED,
    totalStoragePowerReward: 0n,
    simpleTotal: SIMPLE_TOTAL,
    baselineTotal: BASELINE_TOTAL,
  }
  toNextEpochWithReward(state, realizedPower)
  return state
}

/**
 * State after an epoch: null rounds before it are caught up.
 * @param epoch - the current one
 * @param realizedPower - power that counts, bytes
 */
export function advanceRewardState(
  before: RewardState,
  epoch: number,
  realizedPower: bigint,
  gas: WasmGas | undefined,
): RewardState {
  const state: Mutable<RewardState> = { ...before }
  const first = state.epoch
  assertNear(epoch - first)
  while (state.epoch < epoch) {
    gas?.add('nullEpoch')
    toNextEpoch(state, realizedPower)
  }
  gas?.add('mintEpoch')
  toNextEpochWithReward(state, realizedPower)
  state.thisEpochRewardSmoothed = nextEstimate(
    state.thisEpochRewardSmoothed,
    state.thisEpochReward,
    state.epoch - first,
  )
  return state
}

/** Each null round is caught up by itself: a longer way is that of a damaged state, and might be 2^60 epochs. */
function assertNear(epochs: number): void {
  if (epochs > MAX_CATCH_UP)
    throw new ActorsError('STATE_INVALID', 'Cannot use the state of the reward actor: it is damaged')
}

function toNextEpoch(state: Mutable<RewardState>, realizedPower: bigint): void {
  state.epoch += 1
  state.thisEpochBaselinePower = nextBaselinePower(state.thisEpochBaselinePower)
  const { thisEpochBaselinePower: baseline } = state
  state.cumsumRealized += baseline < realizedPower ? baseline : realizedPower
  const before = state.effectiveNetworkTime
  while (state.cumsumRealized > state.cumsumBaseline) {
    assertNear(state.effectiveNetworkTime - before)
    state.effectiveNetworkTime += 1
    state.effectiveBaselinePower = nextBaselinePower(state.effectiveBaselinePower)
    state.cumsumBaseline += state.effectiveBaselinePower
  }
}

function theta(state: RewardState): bigint {
  return computeRewardTheta(
    state.effectiveNetworkTime,
    state.effectiveBaselinePower,
    state.cumsumRealized,
    state.cumsumBaseline,
  )
}

function toNextEpochWithReward(state: Mutable<RewardState>, realizedPower: bigint): void {
  const previous = theta(state)
  toNextEpoch(state, realizedPower)
  state.thisEpochReward = computeReward(state.epoch, previous, theta(state), state.simpleTotal, state.baselineTotal)
}
