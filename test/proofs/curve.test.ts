/** Both back ends of the curve give the same bytes. */
import { beforeAll, describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { BLS_EMPTY_AGGREGATE } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { Curve, G1, G2, Gt } from '../../src/proofs/curve/curve.ts'
import { nobleCurve } from '../../src/proofs/curve/curveNoble.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { littleEndian, ORDER } from '../../src/proofs/field.ts'
import { seeded } from '../support/seeded.ts'

/** @see draft-irtf-cfrg-pairing-friendly-curves section 4.2.1 */
const G1_GENERATOR = '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb'
const G2_GENERATOR =
  '93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e' +
  '024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8'

interface Made {
  readonly [name: string]: string | boolean
}

/** Everything a back end can do, from scalars. */
function everything(curve: Curve, scalars: readonly bigint[]): Made {
  const [a = 1n, b = 1n, c = 1n] = scalars
  const g = curve.readG1(fromHex(G1_GENERATOR)) as G1
  const h = curve.readG2(fromHex(G2_GENERATOR)) as G2
  const ga = curve.sumG1([g], [a])
  const hb = curve.sumG2([h], [b])
  const value = curve.pairing([
    [ga, hb],
    [curve.negateG1(g), h],
  ])
  const power: Gt = curve.productGt([value, curve.pairing([[g, h]])], [c, ORDER - c])
  const infinity = curve.sumG1([g, g], [a, ORDER - a])
  const off = curve.readGt(new Uint8Array(576).map((_, i) => (i % 48 === 47 ? 0 : i)))
  return {
    sumG1: toHex(curve.writeG1(curve.sumG1([g, ga, g], [b, c, 0n]))),
    sumG2: toHex(curve.writeG2(curve.sumG2([h, hb, h], [a, c, ORDER - 1n]))),
    zero: toHex(curve.writeG1(infinity)),
    zeroG2: toHex(curve.writeG2(curve.sumG2([h, h], [a, ORDER - a]))),
    none: toHex(curve.writeG1(curve.sumG1([], []))),
    infinity: curve.isInfinityG1(infinity) && curve.isInfinityG2(curve.readG2(BLS_EMPTY_AGGREGATE) as G2),
    pairing: toHex(curve.writeGt(value)),
    withInfinity: curve.isOneGt(curve.pairing([[infinity, h]])),
    power: toHex(curve.writeGt(power)),
    inGt: curve.isInGt(power),
    decompressed: toHex(curve.writeGt(curve.overConjugate(off))),
    offGt: curve.isInGt(curve.overConjugate(off)),
    bilinear: curve.equalGt(curve.pairing([[ga, hb]]), curve.productGt([curve.pairing([[g, h]])], [(a * b) % ORDER])),
  }
}

describe('back ends of the curve', () => {
  beforeAll(initCrypto)

  it('agree', () => {
    const random = seeded('curve')
    const own = wasmCurve()
    for (let round = 0; round < 3; round++) {
      const scalars = Array.from({ length: 3 }, () => littleEndian(random.bytes(32)) % ORDER)
      const expected = everything(nobleCurve, scalars)
      expect(everything(own, scalars)).toEqual(expected)
      expect([expected.withInfinity, expected.inGt, expected.offGt, expected.bilinear]).toEqual([
        true,
        true,
        false,
        true,
      ])
    }
  })
})
