/**
 * Sums of a key's points without WebAssembly (Pippenger): numbers are bigints, points in a bucket are added in affine
 * coordinates, with one inversion for all additions of a round. 7 multiplications for an addition, noble's own takes 24.
 */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesToBigInt } from '../../base/bytes.ts'
import { COORDINATE_LENGTH, FIELD_PRIME as P } from '../../crypto/bls12381/limbs.ts'
import { signedDigits, windowFor } from '../../crypto/bls12381/signedDigits.ts'
import { invertModulo } from '../field.ts'
import type { G1, InputPoints } from './curve.ts'

const { Point } = bls12_381.G1
type NoblePoint = typeof Point.BASE

/** x and y, from -p to p. */
type Affine = readonly [bigint, bigint]

/** Longest of the short scalars (challenges), and of all, bits. */
const SHORT_BITS = 32
const LONG_BITS = 255
/** What emptying one bucket costs (two of noble's additions), in additions of a point. */
const BUCKET_COST = 7

/** Numerator and denominator of the slope of the line through two points; undefined: their sum is infinity. */
function slopeOf([xa, ya]: Affine, [xb, yb]: Affine): Affine | undefined {
  const dx = (xb - xa) % P
  if (dx !== 0n) return [yb - ya, dx]
  return (ya + yb) % P === 0n ? undefined : [3n * xa * xa, 2n * ya]
}

/** Inverses modulo p by one; none is zero. */
function invertAll(values: readonly bigint[]): bigint[] {
  const before: bigint[] = []
  let product = 1n
  for (const value of values) {
    before.push(product)
    product = (product * value) % P
  }
  let rest = invertModulo(product < 0n ? product + P : product, P)
  const inverses = new Array<bigint>(values.length)
  for (let i = values.length - 1; i >= 0; i--) {
    inverses[i] = (rest * (before[i] as bigint)) % P
    rest = (rest * (values[i] as bigint)) % P
  }
  return inverses
}

/** Adds the points of each list, two by two, until each has one or none. */
function sumLists(lists: Affine[][]): void {
  for (;;) {
    const additions: { readonly list: number; readonly a: Affine; readonly b: Affine; readonly slope: Affine }[] = []
    for (const [list, points] of lists.entries()) {
      if (points.length < 2) continue
      lists[list] = points.length % 2 === 1 ? [points.at(-1) as Affine] : []
      for (let i = 0; i + 1 < points.length; i += 2) {
        const [a, b] = [points[i] as Affine, points[i + 1] as Affine]
        const slope = slopeOf(a, b)
        if (slope !== undefined) additions.push({ list, a, b, slope })
      }
    }
    if (additions.length === 0) return
    const inverses = invertAll(additions.map(({ slope }) => slope[1] % P))
    for (const [i, { list, a, b, slope }] of additions.entries()) {
      const s = (slope[0] * (inverses[i] as bigint)) % P
      const x = (s * s - a[0] - b[0]) % P
      lists[list]?.push([x, (s * (a[0] - x) - a[1]) % P])
    }
  }
}

function noblePoint([x, y]: Affine): NoblePoint {
  return Point.fromAffine({ x: x < 0n ? x + P : x, y: y < 0n ? y + P : y })
}

/** Sum of the points times the scalars, none longer than so many bits. */
function sumOf(points: readonly Affine[], scalars: readonly bigint[], bits: number): NoblePoint {
  if (points.length === 0) return Point.ZERO
  const window = windowFor(points.length, bits, BUCKET_COST)
  const windows = Math.ceil((bits + 1) / window)
  const buckets = 2 ** (window - 1)
  const digits = signedDigits(scalars, bits, window)
  const lists = Array.from({ length: windows * buckets }, (): Affine[] => [])
  for (const [i, point] of points.entries()) {
    const [x, y] = point
    for (let w = 0; w < windows; w++) {
      const digit = digits[i * windows + w] as number
      if (digit !== 0) lists[w * buckets + Math.abs(digit) - 1]?.push(digit < 0 ? [x, -y] : point)
    }
  }
  sumLists(lists)
  let total = Point.ZERO
  for (let w = windows - 1; w >= 0; w--) {
    for (let i = 0; i < window; i++) total = total.double()
    // The sum of bucket k times k + 1: the running sum from the top is added once for every step.
    let running = Point.ZERO
    for (let k = buckets - 1; k >= 0; k--) {
      const [point] = lists[w * buckets + k] as Affine[]
      if (point !== undefined) running = running.add(noblePoint(point))
      total = total.add(running)
    }
  }
  return total
}

/** One key's points. */
export class NobleInputPoints implements InputPoints {
  readonly #points: Affine[] = []

  /** @param bytes - see `Curve.inputPoints` */
  constructor(bytes: Uint8Array) {
    const coordinate = (at: number): bigint => bytesToBigInt(bytes.subarray(at, at + COORDINATE_LENGTH))
    for (let at = 0; at < bytes.length; at += 2 * COORDINATE_LENGTH) {
      this.#points.push([coordinate(at), coordinate(at + COORDINATE_LENGTH)])
    }
  }

  get count(): number {
    return this.#points.length
  }

  allOnCurve(): boolean {
    return this.#points.every(([x, y]) => (y * y - x * x * x - 4n) % P === 0n)
  }

  sum(scalars: readonly bigint[]): G1 {
    const short: Affine[] = []
    const shortScalars: bigint[] = []
    // Points under the same long scalar are added first: a winning PoSt has its commR 66 times.
    const long = new Map<bigint, Affine[]>()
    for (const [i, scalar] of scalars.entries()) {
      const point = this.#points[i] as Affine
      const same = long.get(scalar)
      if (same !== undefined) same.push(point)
      else if (scalar >> BigInt(SHORT_BITS) !== 0n) long.set(scalar, [point])
      else {
        short.push(point)
        shortScalars.push(scalar)
      }
    }
    const lists = [...long.values()]
    sumLists(lists)
    const merged = [...long.keys()].flatMap((scalar, i) => (lists[i] as Affine[]).map((point) => ({ scalar, point })))
    const points = merged.map(({ point }) => point)
    const sum = sumOf(short, shortScalars, SHORT_BITS).add(
      sumOf(
        points,
        merged.map(({ scalar }) => scalar),
        LONG_BITS,
      ),
    )
    return sum as unknown as G1
  }
}
