/**
 * The gas that a message uses, found by running it on the pool's head after everything its sender has pending.
 * @see lotus node/impl/gasutils/gasutils.go gasEstimateGasLimitInternal
 */
import type { Address } from '../../types/address.ts'
import type { Message } from '../../types/message.ts'
import { BLOCK_GAS_LIMIT } from '../../types/protocol.ts'
import type { Tipset } from '../../types/tipset.ts'
import { executionError } from './executionError.ts'
import { transitionalGas } from './transitionalGas.ts'
import { type TrialDeps, trialCall } from './trialCall.ts'

/** What the estimate needs. */
export interface GasLimitDeps extends TrialDeps {
  /** Height of the upgrade after which a transfer costs three times as much. */
  readonly hyggeHeight: number
  /** Name of an actor's code in the parent state, undefined when there is none. */
  actorKindAt(address: Address, tipset: Tipset): string | undefined
}

/**
 * @param at - helps to resolve the sender; the run itself is on the pool's tipset
 * @param anySender - the sender need not exist, and may be a contract
 * @returns gas used, without any margin
 * @throws MempoolError `OUT_OF_GAS`, `EXECUTION_REVERTED`, `SENDER_INVALID`, `ESTIMATION_FAILED`
 */
export async function estimateGasLimit(
  message: Message,
  at: Tipset,
  deps: GasLimitDeps,
  anySender = false,
): Promise<bigint> {
  const free: Message = { ...message, gasLimit: BLOCK_GAS_LIMIT, gasFeeCap: 0n, gasPremium: 0n }
  const { result, tipset } = await trialCall(free, at, anySender, deps)
  const { msgRct: receipt, error } = result
  if (receipt.exitCode !== 0) throw executionError({ receipt, error }, anySender)
  const { method, to } = message
  return transitionalGas(receipt.gasUsed, tipset.height, deps.hyggeHeight, method, () => deps.actorKindAt(to, tipset))
}

/** A limit with room for what changes until the message is executed: at most a block's. */
export function withMargin(gasUsed: bigint, factor: number): bigint {
  const limit = scaledGas(gasUsed, factor)
  if (limit > BLOCK_GAS_LIMIT) return BLOCK_GAS_LIMIT
  return limit
}

/** In float64, as Lotus does. */
export function scaledGas(gas: bigint, factor: number): bigint {
  return BigInt(Math.trunc(Number(gas) * factor))
}
