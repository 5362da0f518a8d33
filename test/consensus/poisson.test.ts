/** Elections by the reference vectors (vectors/consensus.json): mainnet blocks 1 to 3, the e^-x samples, the inverse CDF. */
import { describe, expect, it } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { decode } from '../../src/codec/description.ts'
import { computeWinCount, expNeg, poissonInverse } from '../../src/consensus/poisson.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { consensusVectors } from '../support/consensusVectors.ts'

const vectors = consensusVectors()

describe.skipIf(vectors === undefined)('poisson', () => {
  it('computes e^-x', () => {
    for (const { x, y } of vectors!.poisson.expnegSamples) expect(expNeg(BigInt(x))).toBe(BigInt(y))
  })

  it('computes the inverse distribution for five expected wins', () => {
    const values = poissonInverse(5n << 256n)
    for (const expected of vectors!.poisson.lambda5Icdf) expect(values.next().value).toBe(BigInt(expected))
  })

  it('counts the wins of recorded blocks', () => {
    for (const block of vectors!.blocks) {
      const header = decode(blockHeader, fromHex(block.headerCborHex))
      const wins = computeWinCount(
        header.electionProof!.vrfProof,
        BigInt(block.minerQaPower),
        BigInt(block.networkQaPower),
      )
      expect(wins).toBe(block.winCount)
    }
  })

  it('refuses a network without power', () => {
    expect(() => computeWinCount(new Uint8Array(96), 1n, 0n)).toThrow(expect.objectContaining({ code: 'NO_POWER' }))
  })
})
