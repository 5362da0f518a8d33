/** The EC finality calculator by the reference's values (vectors/ec-finality.json). */
import { describe, expect, it } from 'vitest'
import { finalityDepth, reorgProbability } from '../../src/consensus/ecFinality.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'

const FILE = 'data/vectors/ec-finality.json'
const missing = missingShared(FILE)
if (missing !== undefined) console.warn(`skipped: ${missing}`)

interface Vectors {
  chain: number[]
  probabilities: { depth: number; probability: string }[]
  thresholdDepth2em30: number
}

describe.skipIf(missing !== undefined)('EC finality', () => {
  const vectors = missing === undefined ? readSharedJson<Vectors>(FILE) : (undefined as never)

  for (const { depth, probability } of vectors?.probabilities ?? []) {
    it(`probability at depth ${depth}`, () => {
      const got = reorgProbability(vectors.chain, depth)
      const wanted = Number(probability)
      expect(Math.abs(got - wanted) / wanted).toBeLessThan(1e-12)
    })
  }

  it('depth of the guarantee', () => {
    expect(finalityDepth(vectors.chain)).toBe(vectors.thresholdDepth2em30)
  })
})

describe('EC finality of made-up chains', () => {
  it('is reached after 21 epochs when each has its five blocks', () => {
    expect(finalityDepth(new Array<number>(905).fill(5))).toBe(21)
  })

  it('is not reached on a chain that has half the blocks, nor on one that has just begun', () => {
    expect(finalityDepth(new Array<number>(905).fill(1))).toBeUndefined()
    expect(finalityDepth([1, 5, 5])).toBeUndefined()
  })

  it('says nothing of the head itself or of what lies before the chain', () => {
    expect(reorgProbability([5, 5, 5, 5], 0)).toBe(1)
    expect(reorgProbability([5, 5, 5, 5], 4)).toBe(1)
  })
})
