/**
 * Weight of a tipset, and which of two is the heavier.
 * @see lotus chain/consensus/filcns/weight.go Weight; chain/store/store.go breakWeightTie
 */
import { compareBytes } from '../base/bytes.ts'
import { BLOCKS_PER_EPOCH } from '../types/protocol.ts'
import { firstBlock, type Tipset, ticketHash } from '../types/tipset.ts'
import { ChainError } from './errors.ts'

const W_RATIO_NUMERATOR = 1n
const W_RATIO_DENOMINATOR = 2n
/** Weights are in 2^-8 units. */
const FRACTION_BITS = 8n

/**
 * Weight of the chain up to and including `tipset`.
 * @param qualityAdjustedPower - of the whole network, in the tipset's parent state, bytes
 * @throws ChainError `NO_POWER` when the network has none
 */
export function tipsetWeight(tipset: Tipset, qualityAdjustedPower: bigint): bigint {
  if (qualityAdjustedPower <= 0n) {
    const text = 'All power in the net is gone. You network might be disconnected, or the net is dead!'
    throw new ChainError('NO_POWER', text)
  }
  const log2Power = BigInt(qualityAdjustedPower.toString(2).length - 1)
  let wins = 0n
  for (const block of tipset.blocks) wins += BigInt(block.electionProof?.winCount ?? 0)
  const share = ((log2Power * W_RATIO_NUMERATOR) << FRACTION_BITS) * wins
  return (
    firstBlock(tipset).parentWeight + (log2Power << FRACTION_BITS) + share / (BLOCKS_PER_EPOCH * W_RATIO_DENOMINATOR)
  )
}

/** On equal weight: whether `candidate` wins over `present` by its tickets. All equal: `present` stays. */
export function winsTie(candidate: Tipset, present: Tipset): boolean {
  const length = Math.min(candidate.blocks.length, present.blocks.length)
  for (let i = 0; i < length; i++) {
    const order = compareBytes(ticketHash(at(candidate, i)), ticketHash(at(present, i)))
    if (order !== 0) return order < 0
  }
  return false
}

function at(tipset: Tipset, index: number): Tipset['blocks'][number] {
  return tipset.blocks[index] as Tipset['blocks'][number]
}
