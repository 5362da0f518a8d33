/**
 * Alpha-beta filter of a quantity that changes with the epochs; Q.128.
 * @see builtin-actors v18 runtime/src/builtin/reward/smooth/alpha_beta_filter.rs
 */

import { floorDivide } from '../base/floorDivision.ts'
import type { FilterEstimate } from '../state/scalars.ts'

const PRECISION = 128n
const ALPHA = 314760000000000000000000000000000000n
const BETA = 96640100000000000000000000000000n

/** The estimate of two whole numbers. */
export function createFilterEstimate(position: bigint, velocity: bigint): FilterEstimate {
  return { positionEstimate: position << PRECISION, velocityEstimate: velocity << PRECISION }
}

/**
 * The estimate after an observation.
 * @param observation - whole number
 * @param epochs - since the last one, above 0
 */
export function nextEstimate(previous: FilterEstimate, observation: bigint, epochs: number): FilterEstimate {
  const delta = BigInt(epochs) << PRECISION
  const expected = ((delta * previous.velocityEstimate) >> PRECISION) + previous.positionEstimate
  const residual = (observation << PRECISION) - expected
  return {
    positionEstimate: expected + ((ALPHA * residual) >> PRECISION),
    velocityEstimate: floorDivide(residual * BETA, delta) + previous.velocityEstimate,
  }
}
