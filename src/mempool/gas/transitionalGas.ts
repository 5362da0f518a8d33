/**
 * Estimates made up to 20 epochs before the Hygge upgrade are raised by what it makes more expensive.
 * @see lotus node/impl/gasutils/gasutils.go applyTransitionalGasMultiplier
 */
import type { ChainEpoch, MethodNum } from '../../types/scalars.ts'

const WINDOW = 20
/** Factors in 1/1024 (truncated) by method of the miner actor. */
const MINER_FACTORS: ReadonlyMap<MethodNum, number> = new Map([
  [3n, 1.92],
  [4n, 1.72],
  [6n, 1.06],
  [7n, 1.2],
  [16n, 1.19],
  [18n, 1.73],
  [23n, 1.73],
  [26n, 1.15],
  [27n, 1.18],
])
const SEND_FACTOR = 3

/** @param recipientKind - name of the recipient's code; asked for only inside the window */
export function transitionalGas(
  gasUsed: bigint,
  epoch: ChainEpoch,
  hyggeHeight: ChainEpoch,
  method: MethodNum,
  recipientKind: () => string | undefined,
): bigint {
  if (epoch > hyggeHeight || hyggeHeight - epoch > WINDOW) return gasUsed
  const factor = method === 0n ? SEND_FACTOR : recipientKind() === 'storageminer' ? (MINER_FACTORS.get(method) ?? 1) : 1
  return (gasUsed * BigInt(Math.trunc(factor * 1024))) >> 10n
}
