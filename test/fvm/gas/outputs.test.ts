import { describe, expect, it } from 'vitest'
import { gasOutputs, overEstimationBurn } from '../../../src/fvm/gas/outputs.ts'
import { missingShared, readSharedJson } from '../../support/shared.ts'

const FILE = 'data/vectors/consensus.json'

describe('gas outputs', () => {
  it.skipIf(missingShared(FILE) !== undefined)('over-estimation: the reference values', () => {
    const { gasOutputs: vectors } = readSharedJson<{ gasOutputs: { rows: number[][] } }>(FILE)
    for (const [used, limit, refund, burned] of vectors.rows) {
      const outputs = overEstimationBurn(BigInt(used as number), BigInt(limit as number))
      expect([outputs.refund, outputs.burned]).toEqual([BigInt(refund as number), BigInt(burned as number)])
    }
    expect(vectors.rows.length).toBeGreaterThan(10)
  })

  // ref-fvm fvm/src/gas/outputs.rs gas_outputs_test: base fee 10; used, limit, fee cap, premium.
  it.each([
    [100, 110, 11, 1, 1000, 0, 0, 110, 100],
    [100, 130, 11, 1, 1000, 60, 0, 130, 240],
    [100, 110, 10, 1, 1000, 0, 0, 0, 100],
    [100, 110, 6, 1, 600, 0, 400, 0, 60],
  ])('used %i of %i, fee cap %i, premium %i', (used, limit, feeCap, premium, burn, over, penalty, tip, refund) => {
    const outputs = gasOutputs(BigInt(used), BigInt(limit), 10n, BigInt(feeCap), BigInt(premium))
    expect([
      outputs.baseFeeBurn,
      outputs.overEstimationBurn,
      outputs.minerPenalty,
      outputs.minerTip,
      outputs.refund,
    ]).toEqual([burn, over, penalty, tip, refund].map(BigInt))
  })
})
