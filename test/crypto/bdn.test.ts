/** Multipliers of aggregated keys by data/f3: mainnet's and calibnet's first power tables. */
import { describe, expect, it } from 'vitest'
import { fromBase64 } from '../../src/base/bytes.ts'
import { bdnMultipliers } from '../../src/crypto/bdn.ts'
import { missingShared, readSharedJson } from '../support/shared.ts'

const missing = missingShared('data/f3/vectors.json')
if (missing !== undefined) console.warn(`skipped: ${missing}`)

interface Coefficient {
  index: number
  littleEndian: string
}

describe.skipIf(missing !== undefined)('BDN', () => {
  for (const [name, file] of [
    ['mainnetInitialTable', 'initial-power-table-filecoin.json'],
    ['calibnetRun1Table', 'initial-power-table-calibrationnet-run1.json'],
  ] as const) {
    it(`multipliers of ${name}`, () => {
      const { bdnCoefficients } = readSharedJson<{ bdnCoefficients: Record<string, Coefficient[]> }>(
        'data/f3/vectors.json',
      )
      const { table } = readSharedJson<{ table: [id: number, power: string, key: string][] }>(`data/f3/${file}`)
      const multipliers = bdnMultipliers(table.map(([, , key]) => fromBase64(key)))
      const wanted = bdnCoefficients[name] as Coefficient[]
      expect(wanted.length).toBeGreaterThan(2)
      for (const { index, littleEndian } of wanted) {
        expect(multipliers[index]).toBe(BigInt(littleEndian) + 1n)
      }
    })
  }
})
