/**
 * A fee cap that still holds when every block of the coming epochs is full.
 * @see lotus node/impl/gasutils/gasutils.go GasEstimateFeeCap
 */
import type { TokenAmount } from '../../types/scalars.ts'
import { MempoolError } from '../errors.ts'

/** The base fee changes by at most 1/8 per epoch: a factor of 9/8. */
const GROWTH_NUMERATOR = 9n
const GROWTH_DENOMINATOR = 8n
const FIXED_POINT = 256n
/** Beyond this the factor leaves 64 bits. */
const MAX_EPOCHS = 300

/**
 * @param baseFee - of the tipset, attoFIL per gas
 * @param premium - of the message, attoFIL per gas
 * @param epochs - how long it may wait; negative: the base fee is expected to fall
 * @throws {@link MempoolError} `ESTIMATION_FAILED` beyond 300 epochs either way
 */
export function estimateFeeCap(baseFee: TokenAmount, premium: TokenAmount, epochs: bigint): TokenAmount {
  if (epochs > MAX_EPOCHS || epochs < -MAX_EPOCHS) {
    throw new MempoolError(
      'ESTIMATION_FAILED',
      `Cannot estimate fee cap: ${epochs} epochs, expected at most ${MAX_EPOCHS}`,
    )
  }
  const [up, down] = epochs < 0n ? [GROWTH_DENOMINATOR, GROWTH_NUMERATOR] : [GROWTH_NUMERATOR, GROWTH_DENOMINATOR]
  const power = epochs < 0n ? -epochs : epochs
  // exact where Lotus computes in float64; both are truncated to 1/256, where they agree
  const factor = (up ** power * FIXED_POINT) / down ** power
  return (baseFee * factor) / FIXED_POINT + premium
}
