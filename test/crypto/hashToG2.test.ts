/** Hashing to G2 against the vectors of RFC 9380 and against noble, in both forms of limbs. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { describe, expect, it } from 'vitest'
import { toHex, utf8 } from '../../src/base/bytes.ts'
import { Bls12381Engine } from '../../src/crypto/bls12381/engine.ts'
import { G2Group } from '../../src/crypto/bls12381/g2.ts'
import { HashToG2 } from '../../src/crypto/bls12381/hashToG2.ts'
import { ELEMENT_BYTES, FIELD_PRIME, FLOAT_LIMBS, INTEGER_LIMBS } from '../../src/crypto/bls12381/limbs.ts'
import { DST_G2 } from '../../src/crypto/blsBackend.ts'
import { seeded } from '../support/seeded.ts'

const { G2 } = bls12_381
const INFINITY = `c0${'00'.repeat(95)}`
/** RFC 9380 appendix J.10.1: x of the point, real and imaginary part. */
const RFC_TAG = 'QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_'
const RFC: readonly (readonly [message: string, real: bigint, imaginary: bigint])[] = [
  [
    '',
    0x0141ebfbdca40eb85b87142e130ab689c673cf60f1a3e98d69335266f30d9b8d4ac44c1038e9dcdd5393faf5c41fb78an,
    0x05cb8437535e20ecffaef7752baddf98034139c38452458baeefab379ba13dff5bf5dd71b72418717047f5b0f37da03dn,
  ],
  [
    'abc',
    0x02c2d18e033b960562aae3cab37a27ce00d80ccd5ba4b7fe0e7a210245129dbec7780ccc7954725f4168aff2787776e6n,
    0x139cddbccdc5e91b9623efd38c49f81a6f83f175e80b06fc374de9eb4b41dfe4ca3a230ed250fbe3a2acf73a41177fd8n,
  ],
]

describe.each([
  { name: 'doubles', form: FLOAT_LIMBS },
  { name: 'integers', form: INTEGER_LIMBS },
])('hash to G2, limbs in $name', ({ form }) => {
  const engine = new Bls12381Engine(form)
  const g2 = new G2Group(engine)
  const out = engine.allocate(g2.pointBytes)

  it.each(RFC)('gives the point of the RFC for "%s"', (message, real, imaginary) => {
    new HashToG2(engine, g2, RFC_TAG).hash([out], [utf8(message)])
    expect([engine.readNumber(out), engine.readNumber(out + ELEMENT_BYTES)].map(positive)).toEqual([real, imaginary])
  })

  it('gives what noble does, for messages of any length', () => {
    const random = seeded('hash to G2')
    const hashes = new HashToG2(engine, g2, DST_G2)
    for (const count of [1, 7, 16]) {
      const messages = Array.from({ length: count }, () => random.bytes(random.int(300)))
      engine.within(() => {
        const outs = messages.map(() => engine.allocate(g2.pointBytes))
        hashes.hash(outs, messages)
        expect(outs.map((place) => toHex(g2.write(place)))).toEqual(
          messages.map((message) => G2.hashToCurve(message, { DST: DST_G2 }).toHex(true)),
        )
      })
    }
  })

  it('maps zero, equal and opposite elements', () => {
    const hashes = new HashToG2(engine, g2, DST_G2)
    const random = seeded('elements of Fp2')
    const one: readonly [bigint, bigint] = [BigInt(`0x${toHex(random.bytes(47))}`), 5n]
    const minus: readonly [bigint, bigint] = [FIELD_PRIME - one[0], FIELD_PRIME - one[1]]
    const real: readonly [bigint, bigint] = [3n, 0n]
    const zero: readonly [bigint, bigint] = [0n, 0n]
    const all = [
      [zero, one],
      [one, zero],
      [zero, zero],
      [one, one],
      [one, minus],
      [real, one],
      [real, [0n, 3n]],
    ] as const
    const outs = all.map(() => engine.allocate(g2.pointBytes))
    hashes.map(outs, all)
    for (const [i, pair] of all.entries()) {
      const [a, b] = [pair[0], pair[1]].map((element) => pointOf(G2.mapToCurve([...element])))
      const sum = (a ?? G2.Point.ZERO).add(b ?? G2.Point.ZERO)
      expect(toHex(g2.write(outs[i] as number)), String(pair)).toBe(sum.is0() ? INFINITY : sum.toHex(true))
    }
  })
})

const positive = (value: bigint): bigint => (value < 0n ? value + FIELD_PRIME : value)

/** Without what tells noble's points apart from pairs of coordinates. */
const pointOf = ({ x, y }: ReturnType<typeof G2.mapToCurve>): InstanceType<typeof G2.Point> =>
  G2.Point.fromAffine({ x, y })
