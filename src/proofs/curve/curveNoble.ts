import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../base/bytes.ts'
import { COMPRESSED, INFINITY, isSoundEncoding, LARGER } from '../../crypto/bls12381/encoding.ts'
import { isLarger } from '../../crypto/bls12381/g1.ts'
import { COORDINATE_LENGTH, PARAMETER } from '../../crypto/bls12381/limbs.ts'
import { productOfPowers } from '../../crypto/bls12381/productOfPowers.ts'
import { littleEndian } from '../field.ts'
import { type Curve, type G1, G1_LENGTH, type G2, G2_LENGTH, type Gt } from './curve.ts'
import { NobleInputPoints } from './inputPointsNoble.ts'

const { G1: NobleG1, G2: NobleG2, fields, millerLoopBatch } = bls12_381
const { calcPairingPrecomputes } = bls12_381.utils
const { Fp12, Fp6, Fp2 } = fields

type G1Point = typeof NobleG1.Point.BASE
type G2Point = typeof NobleG2.Point.BASE
type Fp12Value = typeof Fp12.ONE

const g1 = (point: G1): G1Point => point as unknown as G1Point
const g2 = (point: G2): G2Point => point as unknown as G2Point
const gt = (value: Gt): Fp12Value => value as unknown as Fp12Value

/** Lines of points of G2: those of a verifying key are made once. */
const lines = new WeakMap<G2Point, ReturnType<typeof calcPairingPrecomputes>>()

function linesOf(point: G2Point): ReturnType<typeof calcPairingPrecomputes> {
  const known = lines.get(point) ?? calcPairingPrecomputes(point)
  lines.set(point, known)
  return known
}

/** A decoded point, or undefined: noble throws on what is no point, and on what is outside of the subgroup. */
function decode<T extends G1Point | G2Point, Out>(read: () => T): Out | undefined {
  try {
    return read() as unknown as Out
  } catch {
    return undefined
  }
}

function coordinates(bytes: Uint8Array): bigint[] {
  const all: bigint[] = []
  for (let at = 0; at < bytes.length; at += COORDINATE_LENGTH) {
    all.push(bytesToBigInt(bytes.subarray(at, at + COORDINATE_LENGTH)))
  }
  return all
}

function isValid(point: G1Point | G2Point): boolean {
  try {
    point.assertValidity()
    return true
  } catch {
    return false
  }
}

/**
 * Compressed. Not by noble's `toBytes`, which checks the subgroup once more and throws for infinity where it is a sum.
 * @param x - coordinates as they are written
 * @param y - of which the first that is not zero decides which root is meant
 */
function compressed(x: readonly bigint[], y: readonly bigint[]): Uint8Array {
  const bytes = concatBytes(...x.map((coordinate) => bigIntToBytes(coordinate, COORDINATE_LENGTH)))
  const first = y.find((coordinate) => coordinate !== 0n) ?? 0n
  bytes[0] = (bytes[0] as number) | COMPRESSED | (isLarger(first) ? LARGER : 0)
  return bytes
}

function infinity(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  bytes[0] = COMPRESSED | INFINITY
  return bytes
}

function flat(value: Fp12Value): bigint[] {
  return [value.c0, value.c1].flatMap((six) => [six.c0, six.c1, six.c2]).flatMap((two) => [two.c0, two.c1])
}

function readG1(bytes: Uint8Array): G1 | undefined {
  return isSoundEncoding(bytes, G1_LENGTH) ? decode<G1Point, G1>(() => NobleG1.Point.fromBytes(bytes)) : undefined
}

function readG2(bytes: Uint8Array): G2 | undefined {
  return isSoundEncoding(bytes, G2_LENGTH) ? decode<G2Point, G2>(() => NobleG2.Point.fromBytes(bytes)) : undefined
}

/** BLS12-381 in pure JavaScript: always there. */
export const nobleCurve: Curve = {
  name: 'noble',
  readG1,
  readManyG1: (points) => points.map(readG1),
  readG2,
  readManyG2: (points) => points.map(readG2),
  affineG1(bytes) {
    const [x = 0n, y = 0n] = coordinates(bytes)
    return NobleG1.Point.fromAffine({ x, y }) as unknown as G1
  },
  affineG2(bytes) {
    const [x1 = 0n, x0 = 0n, y1 = 0n, y0 = 0n] = coordinates(bytes)
    const point = NobleG2.Point.fromAffine({ x: Fp2.fromBigTuple([x0, x1]), y: Fp2.fromBigTuple([y0, y1]) })
    return point as unknown as G2
  },
  inputPoints: (bytes) => new NobleInputPoints(bytes),
  isInG1: (point) => isValid(g1(point)),
  isInG2: (point) => isValid(g2(point)),
  writeG1(point) {
    if (g1(point).is0()) return infinity(G1_LENGTH)
    const { x, y } = g1(point).toAffine()
    return compressed([x], [y])
  },
  writeG2(point) {
    if (g2(point).is0()) return infinity(G2_LENGTH)
    const { x, y } = g2(point).toAffine()
    return compressed([x.c1, x.c0], [y.c1, y.c0])
  },
  isInfinityG1: (point) => g1(point).is0(),
  isInfinityG2: (point) => g2(point).is0(),
  negateG1: (point) => g1(point).negate() as unknown as G1,
  weighG1: (points, weights) =>
    points.map((point, i) => g1(point).multiplyUnsafe(weights[i] as bigint) as unknown as G1),
  sumG1(points, scalars) {
    let sum = NobleG1.Point.ZERO
    for (const [i, point] of points.entries()) sum = sum.add(g1(point).multiplyUnsafe(scalars[i] as bigint))
    return sum as unknown as G1
  },
  sumG2(points, scalars) {
    let sum = NobleG2.Point.ZERO
    for (const [i, point] of points.entries()) sum = sum.add(g2(point).multiplyUnsafe(scalars[i] as bigint))
    return sum as unknown as G2
  },
  pairing(pairs) {
    const proper = pairs.map(([a, b]) => [g1(a), g2(b)] as const).filter(([a, b]) => !a.is0() && !b.is0())
    // Not `pairingBatch`, which checks again whether sums of points are in the subgroup.
    const prepared = proper.map(([a, b]): Parameters<typeof millerLoopBatch>[0][number] => {
      const { x, y } = a.toAffine()
      return [linesOf(b), x, y]
    })
    return (prepared.length === 0 ? Fp12.ONE : Fp12.finalExponentiate(millerLoopBatch(prepared))) as unknown as Gt
  },
  readGt(bytes) {
    const all: bigint[] = []
    for (let at = 0; at < bytes.length; at += COORDINATE_LENGTH) {
      all.push(littleEndian(bytes.subarray(at, at + COORDINATE_LENGTH)))
    }
    return Fp12.fromBigTwelve(all as Parameters<typeof Fp12.fromBigTwelve>[0]) as unknown as Gt
  },
  writeGt: (value) =>
    concatBytes(...flat(gt(value)).map((coordinate) => bigIntToBytes(coordinate, COORDINATE_LENGTH).reverse())),
  equalGt: (a, b) => Fp12.eql(gt(a), gt(b)),
  isOneGt: (value) => Fp12.eql(gt(value), Fp12.ONE),
  isInGt(value) {
    const x = gt(value)
    // In the cyclotomic subgroup (p^4 - p^2 + 1) first: the fast squaring below holds only there.
    const p2 = Fp12.frobeniusMap(x, 2)
    if (!Fp12.eql(Fp12.mul(Fp12.frobeniusMap(p2, 2), x), p2)) return false
    // Of order r in it: x^p = x^z. @see Scott, "A note on group membership tests for G1, G2 and GT", section 6
    return Fp12.eql(Fp12.frobeniusMap(x, 1), Fp12.conjugate(Fp12._cyclotomicExp(x, PARAMETER)))
  },
  overConjugate(value) {
    const { c0, c1 } = gt(value)
    return Fp12.div(gt(value), Fp12.create({ c0, c1: Fp6.neg(c1) })) as unknown as Gt
  },
  productGt(values, exponents) {
    const product = productOfPowers(values.map(gt), exponents, {
      one: Fp12.ONE,
      multiply: (a, b) => Fp12.mul(a, b),
      square: (a) => Fp12._cyclotomicSquare(a),
      invert: (a) => Fp12.conjugate(a),
    })
    return product as unknown as Gt
  },
}
