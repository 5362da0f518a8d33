/**
 * How likely it is that the block with this ticket is the one that executes the first, second, … slice of the pool.
 * Blocks of one tipset are ordered by ticket; a message counts in the first block that holds it. The number of other
 * winners is Poisson with mean 5, given that there is at least one.
 * @see lotus chain/messagepool/block_proba.go blockProbabilities
 */
import { MAX_SELECTION_BLOCKS } from './rules.ts'

/** Expected winners of an epoch. */
const MEAN_WINNERS = 5

/**
 * @param ticketQuality - 0 (worst ticket) to 1 (best)
 * @returns one probability for each of the notional blocks
 */
export function blockProbabilities(ticketQuality: number): number[] {
  const otherWinners = otherWinnersProbabilities()
  const worse = 1 - ticketQuality
  const result: number[] = []
  for (let place = 0; place < MAX_SELECTION_BLOCKS; place++) {
    let probability = 0
    for (let others = 0; others < otherWinners.length; others++) {
      probability += (otherWinners[others] ?? 0) * binomial(place, others, worse)
    }
    result.push(probability)
  }
  return result
}

/** Probability of 0, 1, 2, … other winners when there is at least one winner. */
function otherWinnersProbabilities(): number[] {
  const condition = Math.log(-1 + Math.exp(MEAN_WINNERS))
  const result: number[] = []
  let logFactorial = 0
  for (let winners = 1; winners <= MAX_SELECTION_BLOCKS; winners++) {
    logFactorial += Math.log(winners)
    result.push(Math.exp(Math.log(MEAN_WINNERS) * winners - logFactorial - condition))
  }
  return result
}

function binomial(successes: number, trials: number, probability: number): number {
  if (successes > trials) return 0
  if (probability === 0) return successes === 0 ? 1 : 0
  if (probability === 1) return successes === trials ? 1 : 0
  let coefficient = 1
  for (let d = 1; d <= successes; d++) coefficient = (coefficient * (trials - d + 1)) / d
  return coefficient * probability ** successes * (1 - probability) ** (trials - successes)
}
