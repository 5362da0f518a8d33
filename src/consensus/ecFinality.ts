/**
 * How likely a tipset is to be reorganised away by an adversary, out of how many blocks the chain has in each epoch (FRC-0089).
 * @see lotus chain/ecfinality/calculator.go CalcValidatorProb, FindThresholdDepth
 */
import { CHAIN_FINALITY } from '../types/protocol.ts'
import { poissonMass, skellamMasses } from './probabilityMass.ts'

/** Epochs of block counts that it wants, the head's included. */
export const EC_FINALITY_WINDOW: number = CHAIN_FINALITY + 5
const BLOCKS_PER_EPOCH = 5
/** Share of the power that an adversary is granted. */
const BYZANTINE = 0.3
/** Probability below which a tipset counts as final. */
export const EC_FINALITY_GUARANTEE: number = 2 ** -30
const SHALLOWEST = 3
const DEEPEST = 450

const ADVERSARY = BLOCKS_PER_EPOCH * BYZANTINE
const HONEST = BLOCKS_PER_EPOCH - ADVERSARY
const NEGLIGIBLE = 1e-25
const MOST_BLOCKS = 400
const MOST_FUTURE_EPOCHS = 100

/** Probabilities of 0, 1, 2, … blocks; cut where they are negligible. */
type Distribution = number[]

/** Fills a list until its values fall below what matters. */
function distribution(most: number, mass: (k: number) => number): Distribution {
  const out: Distribution = []
  for (let k = 0; k <= most; k++) {
    const value = mass(k)
    out.push(value)
    if (k > 1 && value < NEGLIGIBLE && value < (out[k - 1] as number)) break
  }
  return out
}

function sum(values: readonly number[]): number {
  let total = 0
  for (const value of values) total += value
  return total
}

/** The mass that the list lacks belongs to "none". */
function completed(values: Distribution): Distribution {
  values[0] = (values[0] as number) + 1 - sum(values)
  return values
}

function cumulated(values: Distribution): Distribution {
  let total = 0
  return values.map((value) => {
    total += value
    return total
  })
}

/** Entry `at`, or the last one beyond the end. */
function entry(values: Distribution, at: number): number {
  return values[Math.min(at, values.length - 1)] as number
}

/** P(X >= k). For `k` of 1 as for 0 the whole sum: so does the reference, for two of its three lists. */
function atLeast(cumulative: Distribution, k: number): number {
  const all = cumulative[cumulative.length - 1] as number
  return k - 1 > 0 ? all - entry(cumulative, k - 1) : all
}

/** How far ahead an adversary may be that has been mining in secret since before the target. */
function adversarialLead(blocks: readonly number[], head: number, target: number): Distribution {
  const last = Math.max(0, head - CHAIN_FINALITY)
  return completed(
    distribution(MOST_BLOCKS, (k) => {
      let expected = 0
      let seen = 0
      let most = 0
      for (let i = target; i > last; i--) {
        expected += ADVERSARY
        seen += blocks[i - 1] as number
        const mass = poissonMass(expected, k + seen)
        if (mass > most) most = mass
      }
      return most
    }),
  )
}

/** Blocks that an adversary may have made since the target. */
function sinceTarget(depth: number): Distribution {
  return distribution(depth * BLOCKS_PER_EPOCH, (k) => poissonMass(depth * ADVERSARY, k))
}

let future: Distribution | undefined

/** How far an adversary may get ahead from now on; depends on nothing that is observed, so it is computed once. */
function futureLead(): Distribution {
  if (future !== undefined) return future
  let growth = 0
  for (let k = 0; k < 4 * BLOCKS_PER_EPOCH; k++) growth += ((HONEST + k) / 2 ** k) * poissonMass(ADVERSARY, k)
  const publicRate = (1 - poissonMass(HONEST, 0)) * growth
  const byEpochs: Float64Array[] = []
  for (let i = 1; i <= MOST_FUTURE_EPOCHS; i++) byEpochs.push(skellamMasses(MOST_BLOCKS, i * ADVERSARY, i * publicRate))
  future = completed(
    distribution(MOST_BLOCKS, (k) => {
      let most = 0
      for (const masses of byEpochs) most = Math.max(most, masses[k] as number)
      return most
    }),
  )
  return future
}

/**
 * Upper bound of the probability that the tipset `depth` epochs below the last entry is reorganised away.
 * @param blocks - per epoch, oldest first; null epochs 0; the last entry is the head's. The reference wants
 *   {@link EC_FINALITY_WINDOW} entries
 * @returns 0 to 1; 1 where nothing can be said
 */
export function reorgProbability(blocks: readonly number[], depth: number): number {
  const head = blocks.length - 1
  const target = head - depth
  if (depth <= 0 || target < 0) return 1
  const lead = adversarialLead(blocks, head, target)
  const since = sinceTarget(depth)
  const ahead = cumulated(futureLead())
  const leads = cumulated(lead)
  const sinces = cumulated(since)
  let chain = 0
  for (let i = target; i < head; i++) chain += blocks[i] as number

  let probability = leads[leads.length - 1] as number
  if (chain > 0) probability -= entry(leads, chain - 1)
  for (let l = 0; l < chain; l++) {
    const left = chain - l
    const weight = entry(lead, l)
    let inner = atLeast(sinces, left)
    for (let b = 0; b < left; b++) inner += entry(since, b) * atLeast(ahead, left - b)
    probability += weight * inner
  }
  return Math.min(probability, 1)
}

/**
 * The least depth in epochs, from 3 to 450, at which {@link reorgProbability} is below `guarantee`.
 * @returns undefined when none is: the chain has too few blocks
 */
export function finalityDepth(
  blocks: readonly number[],
  guarantee: number = EC_FINALITY_GUARANTEE,
): number | undefined {
  let low = SHALLOWEST
  let high = Math.min(DEEPEST, blocks.length - 1)
  if (low >= high) return undefined
  if (reorgProbability(blocks, low) < guarantee) return low
  if (reorgProbability(blocks, high) > guarantee) return undefined
  while (low < high) {
    const middle = (low + high) >> 1
    if (reorgProbability(blocks, middle) < guarantee) high = middle
    else low = middle + 1
  }
  return low
}
