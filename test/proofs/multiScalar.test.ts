/** Sums of points in our WebAssembly against noble's, with the cases that addition formulas treat apart. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { describe, expect, it } from 'vitest'
import { concatBytes, toHex } from '../../src/base/bytes.ts'
import { MultiScalar } from '../../src/crypto/bls12381/multiScalar.ts'
import { littleEndian, ORDER } from '../../src/proofs/field.ts'
import { type Seeded, seeded } from '../support/seeded.ts'

const { Point } = bls12_381.G1

function scalar(random: Seeded, bits: number): bigint {
  return BigInt.asUintN(bits, littleEndian(random.bytes(32))) % ORDER
}

describe('sums of points times scalars', () => {
  const random = seeded('multiScalar')
  const points = Array.from({ length: 40 }, () => Point.BASE.multiply(scalar(random, 255) || 1n))
  // The same point twice, and two that cancel.
  points[5] = points[4] as (typeof points)[0]
  points[7] = (points[6] as (typeof points)[0]).negate()
  const sums = new MultiScalar(concatBytes(...points.map((point) => point.toBytes(false))))

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
      const sum = sums.sum(scalars)
      expect(sum === undefined ? 'infinity' : toHex(sum)).toBe(expected.is0() ? 'infinity' : expected.toHex(false))
    })
  }

  it('sees a point that is not on the curve', () => {
    const bytes = concatBytes(...points.slice(0, 3).map((point) => point.toBytes(false)))
    expect(new MultiScalar(bytes).allOnCurve()).toBe(true)
    bytes[96 + 60] = (bytes[96 + 60] as number) ^ 1
    expect(new MultiScalar(bytes).allOnCurve()).toBe(false)
  })
})
