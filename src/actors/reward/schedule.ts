/**
 * The minting schedule: simple and baseline rewards, Q.128.
 * @see builtin-actors v18 actors/reward/src/logic.rs, expneg.rs
 */
import { floorDivide } from '../floorDivision.ts'

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

const NUMERATOR: readonly bigint[] = [
  -648770010757830093818553637600n,
  67469480939593786226847644286976n,
  -3197587544499098424029388939001856n,
  89244641121992890118377641805348864n,
  -1579656163641440567800982336819953664n,
  17685496037279256458459817590917169152n,
  -115682590513835356866803355398940131328n,
  340282366920938463463374607431768211456n,
]

const DENOMINATOR: readonly bigint[] = [
  1225524182432722209606361n,
  114095592300906098243859450n,
  5665570424063336070530214243n,
  194450132448609991765137938448n,
  5068267641632683791026134915072n,
  104716890604972796896895427629056n,
  1748338658439454459487681798864896n,
  23704654329841312470660182937960448n,
  259380097567996910282699886670381056n,
  2250336698853390384720606936038375424n,
  14978272436876548034486263159246028800n,
  72144088983913131323343765784380833792n,
  224599776407103106596571252037123047424n,
  340282366920938463463374607431768211456n,
]

function polynomial(coefficients: readonly bigint[], x: bigint): bigint {
  let result = 0n
  for (const c of coefficients) result = ((result * x) >> PRECISION) + c
  return result
}

/** e^-x, both Q.128. */
export function expneg(x: bigint): bigint {
  return floorDivide(polynomial(NUMERATOR, x) << PRECISION, polynomial(DENOMINATOR, x))
}

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
  return (ONE - expneg((theta * LAMBDA) >> PRECISION)) * total
}

/** AttoFIL minted for all expected leaders of an epoch while theta goes from `previous` to `current`. */
export function computeReward(
  epoch: number,
  previous: bigint,
  current: bigint,
  simpleTotal: bigint,
  baselineTotal: bigint,
): bigint {
  const simple = (simpleTotal * EXP_LAMBDA_MINUS_ONE * expneg(LAMBDA * BigInt(epoch))) >> PRECISION
  const baseline = baselineSupply(current, baselineTotal) - baselineSupply(previous, baselineTotal)
  return (simple + baseline) >> PRECISION
}
