/**
 * Gas amounts. Inside the machine gas is counted in thousandths (milligas) as plain numbers: every sum that a message can
 * reach stays far below 2^53 (9 * 10^12 gas). Whole gas is a bigint at the edges.
 * @see ref-fvm fvm/src/gas/charge.rs, fvm/src/gas/mod.rs
 */

/** Milligas in one unit of gas. */
export const MILLIGAS = 1000

/** One charge, as it shows in traces. Both parts in milligas; negative parts occur in FVM 2 only. */
export interface GasCharge {
  readonly name: string
  /** Gas for immediate computation. */
  readonly compute: number
  /** Everything else: storage, retention, deferred work, crossing to the node. */
  readonly storage: number
}

/** Compute and storage in milligas; a name as it shows in traces. */
export function gasCharge(name: string, compute: number, storage = 0): GasCharge {
  return { name, compute, storage }
}

/** Where the reference's counting saturates, milligas: 2^64 (- 1, which is the same number here). */
const SATURATED = 2 ** 64

/** Whole gas, rounded up; never negative, and no more than the reference can count. */
export function roundUpGas(milligas: number): number {
  return milligas <= 0 ? 0 : Math.ceil(Math.min(milligas, SATURATED) / MILLIGAS)
}

/** Whole gas, rounded up, of both parts of a charge. */
export function chargeTotal(charge: GasCharge): number {
  return roundUpGas(charge.compute + charge.storage)
}
