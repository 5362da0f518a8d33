/**
 * Keeps the most that a message can cost within the limit that the sender set.
 * @see lotus chain/messagepool/messagepool.go CapGasFee
 */
import type { Message } from '../../types/message.ts'
import type { TokenAmount } from '../../types/scalars.ts'
import type { SendSpec } from '../sendSpec.ts'

/** Lotus' Fees.DefaultMaxFee: 0.07 FIL, attoFIL. */
export const DEFAULT_MAX_FEE: TokenAmount = 70_000_000_000_000_000n

/** @param message - with a gas limit above 0 */
export function capGasFee(message: Message, spec: SendSpec, defaultMaxFee: TokenAmount): Message {
  const maxFee = spec.maxFee === 0n ? defaultMaxFee : spec.maxFee
  const tooHigh = message.gasFeeCap * message.gasLimit > maxFee
  const gasFeeCap = spec.maximizeFeeCap || tooHigh ? maxFee / message.gasLimit : message.gasFeeCap
  const gasPremium = gasFeeCap < message.gasPremium ? gasFeeCap : message.gasPremium
  return { ...message, gasFeeCap, gasPremium }
}
