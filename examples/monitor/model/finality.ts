/** How final the tipsets of the window are, out of how many blocks the chain has (FRC-0089). */
import { type ChainEpoch, EC_FINALITY_GUARANTEE, EC_FINALITY_WINDOW, finalityDepth, reorgProbability } from 'petrel'
import type { ChainWindow } from './chainWindow.ts'

/** Without a calculation a tipset is final so many epochs deep. */
export const HARD_FINALITY = 900

/** Depths for which the probability is computed one by one, down to the one that is final. */
const SHOWN_DEPTHS = 120

/** The finality of one epoch. */
export interface EpochFinality {
  readonly depth: number
  /** Chance that the epoch is reorganised away is below 2^-bits; 0 where nothing can be said. */
  readonly bits: number
  readonly isFinal: boolean
}

const GUARANTEE_BITS = -Math.log2(EC_FINALITY_GUARANTEE)

/** How much of the way to finality, 0 to 1. */
export function finalityShare({ bits, isFinal }: EpochFinality): number {
  return isFinal ? 1 : Math.min(bits / GUARANTEE_BITS, 0.98)
}

/** Finality below one head. */
export class Finality {
  readonly head: ChainEpoch
  /** Least depth that is final; {@link HARD_FINALITY} where the blocks are too few to say less. */
  readonly depth: number
  readonly #bits: number[]

  private constructor(head: ChainEpoch, depth: number, bits: number[]) {
    this.head = head
    this.depth = depth
    this.#bits = bits
  }

  static of(window: ChainWindow): Finality {
    const head = window.head?.height ?? 0
    const blocks = window.blockCounts().slice(-EC_FINALITY_WINDOW)
    const depth = finalityDepth(blocks) ?? HARD_FINALITY
    const bits = Array.from({ length: Math.min(SHOWN_DEPTHS, depth, blocks.length) }, (_, at) => {
      const probability = reorgProbability(blocks, at)
      return probability >= 1 ? 0 : -Math.log2(Math.max(probability, Number.MIN_VALUE))
    })
    return new Finality(head, depth, bits)
  }

  at(height: ChainEpoch): EpochFinality {
    const depth = this.head - height
    return { depth, bits: this.#bits[depth] ?? 0, isFinal: depth >= this.depth }
  }
}
