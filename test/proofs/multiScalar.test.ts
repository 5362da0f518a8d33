/** Sums of a key's points by both back ends against noble's one by one, with the cases that addition formulas treat apart. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { describe, expect, it } from 'vitest'
import { concatBytes, toHex } from '../../src/base/bytes.ts'
import { nobleCurve } from '../../src/proofs/curve/curveNoble.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { littleEndian, ORDER } from '../../src/proofs/field.ts'
import { type Seeded, seeded } from '../support/seeded.ts'

const { Point } = bls12_381.G1

function scalar(random: Seeded, bits: number): bigint {
  return BigInt.asUintN(bits, littleEndian(random.bytes(32))) % ORDER
}

describe.each([wasmCurve(), nobleCurve])('sums of points times scalars by $name', (curve) => {
  const random = seeded('multiScalar')
  const points = Array.from({ length: 40 }, () => Point.BASE.multiply(scalar(random, 255) || 1n))
  // The same point twice, and two that cancel.
  points[5] = points[4] as (typeof points)[0]
  points[7] = (points[6] as (typeof points)[0]).negate()
  const sums = curve.inputPoints(concatBytes(...points.map((point) => point.toBytes(false))))

  const cases: Record<string, () => bigint[]> = {
    'long and short scalars': () => points.map((_, i) => scalar(random, [255, 30, 32, 1, 33][i % 5] as number)),
    'all equal': () => points.map(() => 0x1234_5678_9abc_def0n),
    'all zero': () => points.map(() => 0n),
    'the largest': () => points.map(() => ORDER - 1n),
    'only two that cancel': () => points.map((_, i) => (i === 6 || i === 7 ? ORDER - 5n : 0n)),
    'the same point twice': () => points.map((_, i) => (i === 4 ? 3n : i === 5 ? 3n : 0n)),
    'powers of two': () => points.map((_, i) => 1n << BigInt(6 * i)),
  }

  for (const [name, make] of Object.entries(cases)) {
    it(name, () => {
      const scalars = make()
      let expected = Point.ZERO
      for (const [i, point] of points.entries()) expected = expected.add(point.multiplyUnsafe(scalars[i] as bigint))
      // noble does not write an infinity that is a sum.
      const written = (expected.is0() ? Point.ZERO : expected).toHex(true)
      expect(toHex(curve.writeG1(sums.sum(scalars)))).toBe(written)
    })
  }

  it('sees a point that is not on the curve', () => {
    const bytes = concatBytes(...points.slice(0, 3).map((point) => point.toBytes(false)))
    expect(curve.inputPoints(bytes).allOnCurve()).toBe(true)
    bytes[96 + 60] = (bytes[96 + 60] as number) ^ 1
    expect(curve.inputPoints(bytes).allOnCurve()).toBe(false)
  })
})
