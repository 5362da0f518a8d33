/**
 * Who gets what of a message's gas payment.
 * @see ref-fvm fvm/src/gas/outputs.rs GasOutputs::compute; lotus chain/vm/burn.go
 */
import type { TokenAmount } from '../../types/scalars.ts'

/** Amounts in attoFIL; `gasRefund` and `gasBurned` in whole gas. */
export interface GasOutputs {
  readonly baseFeeBurn: TokenAmount
  readonly overEstimationBurn: TokenAmount
  readonly minerPenalty: TokenAmount
  readonly minerTip: TokenAmount
  readonly refund: TokenAmount
  readonly gasRefund: bigint
  readonly gasBurned: bigint
}

/** Nothing paid at all: implicit messages. */
export const NO_GAS_OUTPUTS: GasOutputs = {
  baseFeeBurn: 0n,
  overEstimationBurn: 0n,
  minerPenalty: 0n,
  minerTip: 0n,
  refund: 0n,
  gasRefund: 0n,
  gasBurned: 0n,
}

/** Gas that is given back and gas that is burnt because the limit was set too high. */
export function overEstimationBurn(gasUsed: bigint, gasLimit: bigint): { refund: bigint; burned: bigint } {
  if (gasUsed === 0n) return { refund: 0n, burned: gasLimit }
  const allowed = (11n * gasUsed) / 10n
  let over = gasLimit > allowed ? gasLimit - allowed : 0n
  if (over > gasUsed) over = gasUsed
  const remaining = gasLimit > gasUsed ? gasLimit - gasUsed : 0n
  const burned = (remaining * over) / gasUsed
  return { refund: remaining - burned, burned }
}

/** All gas in whole units, all prices in attoFIL per unit. */
export function gasOutputs(
  gasUsed: bigint,
  gasLimit: bigint,
  baseFee: TokenAmount,
  feeCap: TokenAmount,
  premium: TokenAmount,
): GasOutputs {
  const price = baseFee < feeCap ? baseFee : feeCap
  const tip = price + premium > feeCap ? feeCap - price : premium
  const { refund: gasRefund, burned: gasBurned } = overEstimationBurn(gasUsed, gasLimit)
  const baseFeeBurn = price * gasUsed
  const burn = price * gasBurned
  const minerTip = tip * gasLimit
  return {
    baseFeeBurn,
    overEstimationBurn: burn,
    minerPenalty: (baseFee - price) * (gasUsed + gasBurned),
    minerTip,
    refund: feeCap * gasLimit - baseFeeBurn - minerTip - burn,
    gasRefund,
    gasBurned,
  }
}
