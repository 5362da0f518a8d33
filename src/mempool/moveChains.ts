/**
 * Puts the few chains whose weight changed back in order. Lotus sorts all that are left each time a chain is taken
 * (selection.go selectMessagesOptimal), which with 50,000 chains was most of the work.
 */
import { compareEffective, type MessageChain } from './messageChain.ts'

/** A chain with how many of the unmoved stand before it. */
interface Moved {
  readonly chain: MessageChain
  before: number
}

/**
 * Sorts `chains` from `start` to before `end` as a stable sort by effective performance does.
 * @param changed - those that may be out of order, besides what is merged by now
 */
export function moveChains(chains: MessageChain[], start: number, end: number, changed: readonly MessageChain[]): void {
  const moved: Moved[] = []
  let kept = start
  for (let at = start; at < end; at++) {
    const chain = chains[at] as MessageChain
    if (chain.merged || changed.includes(chain)) moved.push({ chain, before: kept })
    else chains[kept++] = chain
  }
  for (const move of moved) move.before = placeOf(move, chains, start, kept)
  moved.sort((a, b) => compareEffective(a.chain, b.chain))
  let into = end
  for (let i = moved.length - 1; i >= 0; i--) {
    const { chain, before } = moved[i] as Moved
    while (kept > before) chains[--into] = chains[--kept] as MessageChain
    chains[--into] = chain
  }
}

/** Where it goes among the sorted ones; among equals where it was. */
function placeOf({ chain, before }: Moved, chains: readonly MessageChain[], start: number, end: number): number {
  const first = partition(start, end, (at) => compareEffective(chains[at] as MessageChain, chain) < 0)
  const last = partition(first, end, (at) => compareEffective(chains[at] as MessageChain, chain) <= 0)
  return Math.min(Math.max(before, first), last)
}

/** The first index for which `isBefore` no longer holds. */
function partition(start: number, end: number, isBefore: (at: number) => boolean): number {
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}
