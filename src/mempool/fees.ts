/** Fee arithmetic that several parts of the pool share. All amounts are attoFIL. */
import type { Message } from '../types/message.ts'
import { MINIMUM_BASE_FEE } from '../types/protocol.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { MIN_REPLACE_BY_FEE_PERCENT } from './rules.ts'

/** The most that a message can cost in gas. */
export function requiredFunds(message: Message): TokenAmount {
  return message.gasFeeCap * message.gasLimit
}

/**
 * Lowest premium that replaces a pending message of this premium.
 * @see lotus chain/messagepool/messagepool.go ComputeMinRBF
 */
export function minimumReplacementPremium(premium: TokenAmount): TokenAmount {
  return replacementPremium(premium, MIN_REPLACE_BY_FEE_PERCENT)
}

/**
 * Premium of a replacement at a ratio given in percent.
 * @see lotus chain/messagepool/messagepool.go ComputeRBF
 */
function replacementPremium(premium: TokenAmount, ratioPercent: number): TokenAmount {
  return (premium * BigInt(ratioPercent)) / 100n + 1n
}

/** Lowest fee cap of interest at this base fee, never below the network's minimum. */
export function feeCapLowerBound(baseFee: TokenAmount, divisor: bigint): TokenAmount {
  const bound = baseFee / divisor
  if (bound < MINIMUM_BASE_FEE) return MINIMUM_BASE_FEE
  return bound
}

/**
 * What a block producer earns with a message, negative (and tripled) when its fee cap is below the base fee.
 * @see lotus chain/messagepool/selection.go getGasReward
 */
export function gasReward(message: Message, baseFee: TokenAmount): TokenAmount {
  let premium = message.gasFeeCap - baseFee
  if (premium > message.gasPremium) premium = message.gasPremium
  const reward = premium * message.gasLimit
  return reward < 0n ? reward * 3n : reward
}
