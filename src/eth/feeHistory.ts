/**
 * What recent tipsets cost.
 * @see lotus node/impl/eth/gas.go EthFeeHistory, calculateRewardsAndGasUsed
 */
import type { ChainStore } from '../chain/chainStore.ts'
import { BLOCK_GAS_LIMIT } from '../types/protocol.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { EthBlock } from './ethBlock.ts'

/** What a tipset without messages is said to have paid, attoFIL per gas. */
const MINIMUM_PREMIUM: TokenAmount = 100_000n

/** All lists oldest first. */
export interface FeeHistory {
  readonly oldestBlock: number
  /** One more than there are tipsets: the newest base fee stands twice. */
  readonly baseFees: readonly TokenAmount[]
  readonly gasUsedRatios: readonly number[]
  /** Premiums by percentile of gas, of each tipset. */
  readonly rewards: readonly (readonly TokenAmount[])[]
}

/**
 * @param newest - the newest tipset
 * @param count - tipsets, at most; genesis does not count
 * @param percentiles - 0 to 100, ascending
 */
export async function feeHistory(
  newest: Tipset,
  count: number,
  percentiles: readonly number[],
  deps: { readonly store: Pick<ChainStore, 'parent'>; executed(tipset: Tipset): Promise<Pick<EthBlock, 'messages'>> },
): Promise<FeeHistory> {
  const baseFees: TokenAmount[] = [firstBlock(newest).parentBaseFee]
  const gasUsedRatios: number[] = []
  const rewards: TokenAmount[][] = []
  let oldestBlock = 1
  for (let tipset = newest; gasUsedRatios.length < count && tipset.height > 0; tipset = deps.store.parent(tipset)) {
    const baseFee = firstBlock(tipset).parentBaseFee
    const { messages } = await deps.executed(tipset)
    const gasUsed = messages.reduce((sum, { receipt }) => sum + Number(receipt.gasUsed), 0)
    baseFees.push(baseFee)
    gasUsedRatios.push(gasUsed / (Number(BLOCK_GAS_LIMIT) * tipset.blocks.length))
    rewards.push(premiumsAt(percentiles, messages, baseFee, gasUsed))
    oldestBlock = tipset.height
  }
  return {
    oldestBlock,
    baseFees: baseFees.reverse(),
    gasUsedRatios: gasUsedRatios.reverse(),
    rewards: rewards.reverse(),
  }
}

function premiumsAt(
  percentiles: readonly number[],
  messages: EthBlock['messages'],
  baseFee: TokenAmount,
  gasUsed: number,
): TokenAmount[] {
  const paid = messages
    .map(({ message: { message }, receipt }) => ({
      premium: effectivePremium(message.gasFeeCap, message.gasPremium, baseFee),
      gasUsed: Number(receipt.gasUsed),
    }))
    .sort((a, b) => (a.premium < b.premium ? -1 : a.premium > b.premium ? 1 : 0))
  let at = 0
  let sum = 0
  return percentiles.map((percentile) => {
    const threshold = Math.trunc((gasUsed * percentile) / 100)
    while (sum < threshold && at < paid.length - 1) sum += (paid[at++] as (typeof paid)[number]).gasUsed
    return paid[at]?.premium ?? MINIMUM_PREMIUM
  })
}

/** What is left of the fee cap above the base fee, at most the premium. */
function effectivePremium(feeCap: TokenAmount, premium: TokenAmount, baseFee: TokenAmount): TokenAmount {
  const available = feeCap > baseFee ? feeCap - baseFee : 0n
  return premium < available ? premium : available
}
