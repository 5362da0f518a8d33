/**
 * The minting schedule: simple and baseline rewards, Q.128.
 * @see builtin-actors v18 actors/reward/src/logic.rs
 */
import { expNegAt } from '../../base/expNeg.ts'
import { floorDivide } from '../../base/floorDivision.ts'

const PRECISION = 128n
const ONE = 1n << PRECISION
const ATTO = 10n ** 18n

/** Growth of the baseline per epoch, Q.128: doubles in a year of 30-second epochs, on every network. */
const BASELINE_EXPONENT = 340282591298641078465964189926313473653n
/** Baseline of epoch 0, bytes. */
export const BASELINE_INITIAL_VALUE = 2_888_888_880_000_000_000n
/** Baseline one epoch before that, bytes. */
export const INIT_BASELINE_POWER: bigint =
  ((BASELINE_INITIAL_VALUE << (2n * PRECISION)) / BASELINE_EXPONENT) >> PRECISION
/** AttoFIL that the simple and the baseline schedule mint in all. */
export const SIMPLE_TOTAL: bigint = 330_000_000n * ATTO
export const BASELINE_TOTAL: bigint = 770_000_000n * ATTO
/** e^lambda - 1 and lambda = ln 2 / (6 years in epochs), Q.128. */
const EXP_LAMBDA_MINUS_ONE = 37396273494747879394193016954629n
const LAMBDA = 37396271439864487274534522888786n

/** e^-x, both Q.128. */
const expNeg = expNegAt(PRECISION)

/** Baseline power of the epoch after one with baseline `previous`, bytes. */
export function nextBaselinePower(previous: bigint): bigint {
  return (previous * BASELINE_EXPONENT) >> PRECISION
}

/** Fractional effective network time, Q.128: where the cumulated baseline equals the cumulated realized power. */
export function computeRewardTheta(
  effectiveNetworkTime: number,
  baselineAtEffectiveTime: bigint,
  cumsumRealized: bigint,
  cumsumBaseline: bigint,
): bigint {
  if (effectiveNetworkTime === 0) return 0n
  const missing = floorDivide((cumsumBaseline - cumsumRealized) << PRECISION, baselineAtEffectiveTime)
  return (BigInt(effectiveNetworkTime) << PRECISION) - missing
}

/** Baseline supply minted up to theta, Q.128. */
function baselineSupply(theta: bigint, total: bigint): bigint {
  return (ONE - expNeg((theta * LAMBDA) >> PRECISION)) * total
}

/** AttoFIL minted for all expected leaders of an epoch while theta goes from `previous` to `current`. */
export function computeReward(
  epoch: number,
  previous: bigint,
  current: bigint,
  simpleTotal: bigint,
  baselineTotal: bigint,
): bigint {
  const simple = (simpleTotal * EXP_LAMBDA_MINUS_ONE * expNeg(LAMBDA * BigInt(epoch))) >> PRECISION
  const baseline = baselineSupply(current, baselineTotal) - baselineSupply(previous, baselineTotal)
  return (simple + baseline) >> PRECISION
}
