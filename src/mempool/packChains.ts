/**
 * Greedy packing: whole chains best first; the first that does not fit is trimmed and put back in order, until nothing
 * worth packing fits.
 * @see lotus chain/messagepool/selection.go selectMessagesGreedy, selectPriorityMessages
 */
import type { TokenAmount } from '../types/scalars.ts'
import type { BlockBudget } from './blockBudget.ts'
import { compareChains, type MessageChain } from './messageChain.ts'
import { MIN_GAS_WORTH_PACKING } from './rules.ts'

/** Fills `block` from `chains`, which it sorts and trims. */
export function packChains(block: BlockBudget, chains: MessageChain[], baseFee: TokenAmount): void {
  chains.sort(compareChains)
  let edge = takeWhole(block, chains, 0)
  while (edge < chains.length && block.gasLeft >= MIN_GAS_WORTH_PACKING) {
    const chain = chains[edge]
    if (chain === undefined) return
    block.trim(chain, baseFee)
    if (chain.valid) pushDown(chains, edge, compareChains)
    edge = takeWhole(block, chains, edge)
  }
}

/**
 * Takes chains from `start` on while they fit.
 * @returns index of the first valid one that does not fit; the length when none is left or the rest costs money
 */
function takeWhole(block: BlockBudget, chains: readonly MessageChain[], start: number): number {
  for (let i = start; i < chains.length; i++) {
    const chain = chains[i]
    if (chain === undefined || !chain.valid || chain.merged) continue
    if (chain.performance < 0) return chains.length
    if (!block.tryToAdd(chain)) return i
  }
  return chains.length
}

/** Moves the chain at `index` down to its place in an otherwise sorted list. */
export function pushDown(
  chains: MessageChain[],
  index: number,
  compare: (a: MessageChain, b: MessageChain) => number,
): void {
  for (let i = index; i < chains.length - 1; i++) {
    const chain = chains[i]
    const next = chains[i + 1]
    if (chain === undefined || next === undefined || compare(chain, next) < 0) return
    chains[i] = next
    chains[i + 1] = chain
  }
}
