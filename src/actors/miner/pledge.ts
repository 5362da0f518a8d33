/**
 * What power costs in pledge.
 * @see builtin-actors v18 actors/miner/src/monies.rs initial_pledge_for_power, expected_reward_for_power
 */

import { floorDivide } from '../../base/floorDivision.ts'
import type { FilterEstimate } from '../../state/scalars.ts'
import { ATTO_PER_FIL, type ChainEpoch, type TokenAmount } from '../../types/scalars.ts'
import { extrapolatedCumSumOfRatio } from '../cumSumRatio.ts'

const PRECISION = 128n
/** Epochs of expected reward: 20 days. */
const PROJECTION_PERIOD = 20 * 2880
const LOCK_TARGET_NUMERATOR = 3n
const LOCK_TARGET_DENOMINATOR = 10n
/** One FIL per 32 GiB. */
const MAX_PER_BYTE = ATTO_PER_FIL / (32n << 30n)
const PERMILLE = 1000n
/** Share of the simple pledge once FIP-0081 is in full force. */
const FIP_0081_PERMILLE = 300

/** What the pledge depends on besides the power. */
export interface PledgeInputs {
  /** Bytes. */
  readonly baselinePower: bigint
  readonly reward: FilterEstimate
  readonly networkPower: FilterEstimate
  readonly circulatingSupply: TokenAmount
  readonly epochsSinceRampStart: ChainEpoch
  readonly rampDuration: ChainEpoch
}

/** Reward that power would earn over a period, at least 1 attoFIL: what a pre-commitment deposits, too. */
export function expectedReward(
  power: bigint,
  { reward, networkPower }: Pick<PledgeInputs, 'reward' | 'networkPower'>,
): TokenAmount {
  if (networkPower.positionEstimate >> PRECISION === 0n) {
    const whole = reward.positionEstimate >> PRECISION
    return whole > 0n ? whole : 1n
  }
  const expected = (power * extrapolatedCumSumOfRatio(PROJECTION_PERIOD, 0, reward, networkPower)) >> PRECISION
  return expected > 0n ? expected : 1n
}

function simpleShare({ epochsSinceRampStart: elapsed, rampDuration }: PledgeInputs): bigint {
  if (elapsed < 0) return 0n
  if (rampDuration === 0 || elapsed >= rampDuration) return BigInt(FIP_0081_PERMILLE)
  return BigInt(Math.floor((elapsed * FIP_0081_PERMILLE) / rampDuration))
}

/** None is negative. */
function greatest(...values: bigint[]): bigint {
  let out = 0n
  for (const value of values) if (value > out) out = value
  return out
}

/** AttoFIL to pledge for so much quality-adjusted power, bytes. */
export function initialPledgeForPower(power: bigint, inputs: PledgeInputs): TokenAmount {
  const simple = simpleShare(inputs)
  const baseline = PERMILLE - simple
  const network = inputs.networkPower.positionEstimate >> PRECISION
  const target = inputs.circulatingSupply * LOCK_TARGET_NUMERATOR * power
  const byBaseline = greatest(network, inputs.baselinePower, power) * LOCK_TARGET_DENOMINATOR * PERMILLE
  const bySimple = greatest(network, power) * LOCK_TARGET_DENOMINATOR * PERMILLE
  const additional = floorDivide(baseline * target, byBaseline) + floorDivide(simple * target, bySimple)
  const nominal = expectedReward(power, inputs) + additional
  const cap = MAX_PER_BYTE * power
  return nominal > cap ? cap : nominal
}
