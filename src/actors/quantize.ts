import type { ChainEpoch } from '../types/scalars.ts'

/**
 * The first epoch from `epoch` on that is a multiple of `unit` away from `offset`. Before the first such epoch above 0
 * division truncates, which rounds up as well.
 * @see builtin-actors v18 actors/miner/src/quantize.rs QuantSpec quantize_up
 */
export function quantizeUp(epoch: ChainEpoch, unit: ChainEpoch, offset: ChainEpoch): ChainEpoch {
  const base = offset % unit
  const distance = epoch - base
  const quotient = Math.trunc(distance / unit)
  return distance % unit === 0 || distance < 0 ? unit * quotient + base : unit * (quotient + 1) + base
}
