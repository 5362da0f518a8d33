/**
 * The sum, over future epochs, of the ratio of two filtered quantities; Q.128.
 * @see builtin-actors v18 runtime/src/builtin/reward/smooth/smooth_func.rs
 */

import { floorDivide } from '../base/floorDivision.ts'
import type { FilterEstimate } from '../state/scalars.ts'
import type { ChainEpoch } from '../types/scalars.ts'

const PRECISION = 128n
const LN_2 = 235865763225513294137944142764154484399n
/** Below this a velocity, squared, counts as none. */
const EPSILON = 302231454903657293676544n

const LN_NUMERATOR: readonly bigint[] = [
  261417938209272870992496419296200268025n,
  7266615505142943436908456158054846846897n,
  32458783941900493142649393804518050491988n,
  17078670566130897220338060387082146864806n,
  -35150353308172866634071793531642638290419n,
  -20351202052858059355702509232125230498980n,
  -1563932590352680681114104005183375350999n,
]

const LN_DENOMINATOR: readonly bigint[] = [
  49928077726659937662124949977867279384n,
  2508163877009111928787629628566491583994n,
  21757751789594546643737445330202599887121n,
  53400635271583923415775576342898617051826n,
  41248834748603606604000911015235164348839n,
  9015227820322455780436733526367238305537n,
  340282366920938463463374607431768211456n,
]

function polynomial(coefficients: readonly bigint[], x: bigint): bigint {
  let result = 0n
  for (const c of coefficients) result = ((result * x) >> PRECISION) + c
  return result
}

/** Natural logarithm, both Q.128; x above 0. */
function naturalLog(x: bigint): bigint {
  const shift = BigInt(x.toString(2).length) - 1n - PRECISION
  // Between 1 and 2.
  const fraction = shift > 0n ? x >> shift : x << -shift
  const part = floorDivide(polynomial(LN_NUMERATOR, fraction) << PRECISION, polynomial(LN_DENOMINATOR, fraction))
  return shift * LN_2 + part
}

/**
 * Sum of `numerator / denominator` over `delta` epochs.
 * @param start - epochs from now to the first
 */
export function extrapolatedCumSumOfRatio(
  delta: ChainEpoch,
  start: ChainEpoch,
  numerator: FilterEstimate,
  denominator: FilterEstimate,
): bigint {
  const deltaT = BigInt(delta) << PRECISION
  const t0 = BigInt(start) << PRECISION
  const { positionEstimate: pos1, velocityEstimate: velo1 } = numerator
  const { positionEstimate: pos2, velocityEstimate: velo2 } = denominator
  const squaredVelo2 = (velo2 * velo2) >> PRECISION
  if (squaredVelo2 > EPSILON) {
    const from = ((velo2 * t0) >> PRECISION) + pos2
    const to = ((velo2 * deltaT) >> PRECISION) + from
    const [lnFrom, lnTo] = [naturalLog(from), naturalLog(to)]
    const m1 = ((lnTo - lnFrom) * pos1 * velo2) >> PRECISION
    const m2 = (((lnFrom - lnTo) * pos2 + velo2 * deltaT) * velo1) >> PRECISION
    return floorDivide(m2 + m1, squaredVelo2)
  }
  const middle = ((velo1 * (t0 + (deltaT >> 1n))) >> PRECISION) + pos1
  return floorDivide(middle * deltaT, pos2)
}
