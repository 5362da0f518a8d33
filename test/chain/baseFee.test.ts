import { describe, expect, it } from 'vitest'
import { nextBaseFeeFromPremium, nextBaseFeeFromUse, PREMIUM_INDEX, premiumAt } from '../../src/chain/baseFee.ts'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { missingShared, readSharedText } from '../support/shared.ts'

const missing = missingShared('data/vectors/consensus.json')
type Rows = { rows: Json[][] }
const vectors = (missing === undefined ? parseJson(readSharedText('data/vectors/consensus.json')) : {}) as unknown as {
  baseFeeUtilization: Rows
  baseFeePremium: Rows
  percentileSelect: Rows
}
const big = (value: Json | undefined): bigint => BigInt(value as number | bigint)

describe.skipIf(missing !== undefined)('base fee vectors', () => {
  it('by use of gas', () => {
    for (const [fee, gas, blocks, before, after] of vectors.baseFeeUtilization.rows) {
      expect(nextBaseFeeFromUse(big(fee), big(gas), Number(blocks), false)).toBe(big(before))
      expect(nextBaseFeeFromUse(big(fee), big(gas), Number(blocks), true)).toBe(big(after))
    }
  })

  it('by premium', () => {
    for (const [fee, premium, next] of vectors.baseFeePremium.rows) {
      expect(nextBaseFeeFromPremium(big(fee), big(premium))).toBe(big(next))
    }
  })

  it('picks the premium at 80 % of a block', () => {
    for (const [premiums, limits, selected] of vectors.percentileSelect.rows) {
      const messages = (premiums as Json[]).map((premium, i) => ({
        premium: big(premium),
        gasLimit: big((limits as Json[])[i]),
      }))
      expect(premiumAt(messages, PREMIUM_INDEX)).toBe(big(selected))
    }
  })
})
