/**
 * Packing for a block that may not be the first of its tipset: chains are weighted by the chance that our block is the
 * one that executes them, so that the producers of one epoch do not all pack the same messages.
 * @see lotus chain/messagepool/selection.go selectMessagesOptimal
 */
import type { Steps } from '../base/steps.ts'
import { BLOCK_GAS_LIMIT, BLOCK_MESSAGE_LIMIT } from '../types/protocol.ts'
import type { TokenAmount } from '../types/scalars.ts'
import type { BlockBudget } from './blockBudget.ts'
import { blockProbabilities } from './blockProbabilities.ts'
import { compareChains, compareEffective, type MessageChain } from './messageChain.ts'
import { moveChains } from './moveChains.ts'
import { pushDown } from './packChains.ts'
import { MAX_SELECTION_BLOCKS, MIN_GAS_WORTH_PACKING } from './rules.ts'

/**
 * Fills `block` from `chains`, which it sorts and trims. A step is a chain.
 * @param random - uniform in [0, 1): the order of the last, arbitrary fill
 */
export function* packOptimal(
  block: BlockBudget,
  chains: MessageChain[],
  baseFee: TokenAmount,
  ticketQuality: number,
  random: () => number,
): Steps<void> {
  chains.sort(compareChains)
  if ((chains[0]?.performance ?? 0) < 0) return
  weigh(chains, ticketQuality)
  chains.sort(compareEffective)
  const edge = yield* takeWithParents(block, chains, baseFee)
  packTail(block, chains, edge, baseFee)
  fillAtRandom(block, chains, baseFee, random)
}

/** Cuts the sorted chains into notional blocks, without trimming, and weighs each by its block's probability. */
function weigh(chains: readonly MessageChain[], ticketQuality: number): void {
  const probabilities = blockProbabilities(ticketQuality)
  let next = 0
  for (let block = 0; block < MAX_SELECTION_BLOCKS && next < chains.length; block++) {
    let gas = BLOCK_GAS_LIMIT
    let messages = BLOCK_MESSAGE_LIMIT
    while (next < chains.length && gas >= MIN_GAS_WORTH_PACKING && messages > 0) {
      const chain = chains[next++]
      if (chain === undefined) continue
      chain.setBlockProbability(probabilities[block] ?? 0)
      gas -= chain.gasLimit
      messages -= chain.messages.length
    }
  }
  for (; next < chains.length; next++) chains[next]?.clearEffectivePerformance()
}

/** @returns index of the first chain that does not fit */
function* takeWithParents(block: BlockBudget, chains: MessageChain[], baseFee: TokenAmount): Steps<number> {
  // Only what has a weight can get another one.
  let weighed = chains.findIndex((chain) => chain.effectivePerformance <= 0)
  if (weighed < 0) weighed = chains.length
  for (let i = 0; i < chains.length; i++) {
    const chain = chains[i]
    if (chain === undefined || chain.merged) continue
    if (chain.performance < 0) return chains.length
    yield
    if (!block.tryToAddWithParents(chain, baseFee)) return i
    const released = release(chain)
    if (released.length > 0) moveChains(chains, i + 1, weighed, released)
  }
  return chains.length
}

/** Lets the chains that depend on a taken one stand for themselves. @returns those whose weight changed */
function release(chain: MessageChain): MessageChain[] {
  const released: MessageChain[] = []
  for (let next = chain.next; next !== undefined && next.effectivePerformance > 0; next = next.next) {
    if (released.length === 0) next.releaseFromParent()
    else next.updateEffectivePerformance()
    released.push(next)
  }
  return released
}

/** Trims the chain at the edge and tries on, while there is gas worth packing. */
function packTail(block: BlockBudget, chains: MessageChain[], start: number, baseFee: TokenAmount): void {
  let edge = start
  while (block.gasLeft >= MIN_GAS_WORTH_PACKING && edge < chains.length) {
    const chain = chains[edge]
    if (chain === undefined) return
    if (!chain.valid || chain.merged) {
      edge++
      continue
    }
    block.trim(chain, baseFee)
    if (chain.valid) pushDown(chains, edge, compareEffective)
    if (!takeFrom(block, chains, edge, baseFee)) return
  }
}

/** @returns false when nothing that pays is left */
function takeFrom(block: BlockBudget, chains: readonly MessageChain[], start: number, baseFee: TokenAmount): boolean {
  for (let i = start; i < chains.length; i++) {
    const chain = chains[i]
    if (chain === undefined || !chain.valid || chain.merged) continue
    if (chain.performance < 0) return false
    // not taken: it was trimmed or invalidated, so the next round sees something new
    if (!block.tryToAddWithParents(chain, baseFee)) return true
  }
  return false
}

/** What is left goes in any order, so that producers differ. */
function fillAtRandom(block: BlockBudget, chains: MessageChain[], baseFee: TokenAmount, random: () => number): void {
  if (block.full) return
  for (let i = 0; i < chains.length; i++) {
    const j = Math.floor(random() * (i + 1))
    const a = chains[i]
    const b = chains[j]
    if (a === undefined || b === undefined) continue
    chains[i] = b
    chains[j] = a
  }
  for (const chain of chains) {
    if (block.full) return
    if (chain.merged || !chain.valid || chain.performance < 0) continue
    // a chain that did not fit comes back trimmed
    if (!block.tryToAddWithParents(chain, baseFee) && chain.valid) block.tryToAddWithParents(chain, baseFee)
  }
}
