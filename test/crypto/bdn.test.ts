/** Multipliers of aggregated keys by data/f3: mainnet's and calibnet's first power tables. */
import { describe, expect, it } from 'vitest'
import { bigIntToBytes, concatBytes, fromBase64 } from '../../src/base/bytes.ts'
import { BdnGroup, bdnMultipliers } from '../../src/crypto/bdn.ts'
import { nobleBls } from '../../src/crypto/blsNoble.ts'
import { seeded } from '../support/seeded.ts'
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

describe('the key of members of a group', () => {
  it('is what noble sums up, however many they are and however often they are asked for', { timeout: 60_000 }, () => {
    const random = seeded('members')
    const keys = Array.from(
      { length: 9 },
      () => nobleBls.publicKey(concatBytes(random.bytes(31), Uint8Array.of(1))) as Uint8Array,
    )
    // One key twice.
    keys.push(keys[0] as Uint8Array)
    const weights = bdnMultipliers(keys).map((one) => bigIntToBytes(one).reverse())
    const group = new BdnGroup(keys)
    const rounds = [
      [...keys.keys()],
      [3],
      ...Array.from({ length: 12 }, () => [...keys.keys()].filter(() => random.int(100) < 70)),
      [...keys.keys()],
      [0, 9],
      [1, 2, 3, 4, 5, 6, 7, 8],
    ]
    for (const members of rounds) {
      const wanted = nobleBls.sumKeys(
        members.map((i) => keys[i] as Uint8Array),
        members.map((i) => weights[i] as Uint8Array),
      )
      expect(group.keyOf(members), String(members)).toEqual(wanted)
    }
    // What is no point is refused where it signs, and only there.
    const broken = new BdnGroup([...keys.slice(0, 9), new Uint8Array(48)])
    for (let i = 0; i < 12; i++) expect(broken.keyOf([1, 2, 9])).toBeUndefined()
    for (let i = 0; i < 12; i++) expect(broken.keyOf([1, 2, 3])).toBeDefined()
  })
})
