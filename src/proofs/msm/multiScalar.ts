/**
 * Sums of many points times scalars (Pippenger): the points of a verifying key stay in memory, ready for use.
 *
 * Scalars of up to 32 bits (challenges), of up to 168 (sums of weighted challenges) and longer ones (commitments) are summed
 * apart, each with windows of its own length; points under the same long scalar are added first.
 */
import { bigIntToBytes, concatBytes } from '../../base/bytes.ts'
import { COORDINATE_LENGTH, FIELD_PRIME } from '../../crypto/bls12381/limbs.ts'
import { invertModulo, ORDER } from '../field.ts'
import { ELEMENT_BYTES } from './fieldCode.ts'
import { FieldMemory } from './fieldMemory.ts'
import { AFFINE, AFFINE_BYTES, EXTENDED, EXTENDED_BYTES, PointArithmetic } from './pointArithmetic.ts'
import { signedDigits } from './signedDigits.ts'

/** Bytes of an uncompressed point. */
const POINT_LENGTH = 2 * COORDINATE_LENGTH
/** Longest of the short scalars (challenges), of those in between (sums of weighted challenges), and of all, bits. */
const SHORT_BITS = 32
const MIDDLE_BITS = 168
const LONG_BITS: number = ORDER.toString(2).length
const MAX_WINDOW = 13
const BUCKETS = 2 ** (MAX_WINDOW - 1)
/** What emptying one bucket costs, in additions of a point. */
const BUCKET_COST = 3
/** Elements besides the points: temporary ones of the arithmetic and of reading. */
const SPARE_ELEMENTS = 16

/** Window length that needs the fewest additions. */
function windowFor(count: number, bits: number): number {
  const cost = (window: number): number => Math.ceil((bits + 1) / window) * (count + BUCKET_COST * 2 ** (window - 1))
  let best = 2
  for (let window = 3; window <= MAX_WINDOW; window++) if (cost(window) < cost(best)) best = window
  return best
}

/** Offsets of affine points with their scalars. */
interface Terms {
  readonly points: number[]
  readonly scalars: bigint[]
}

function termsWhere({ points, scalars }: Terms, pick: (scalar: bigint) => boolean): Terms {
  const picked = [...scalars.keys()].filter((i) => pick(scalars[i] as bigint))
  return { points: picked.map((i) => points[i] as number), scalars: picked.map((i) => scalars[i] as bigint) }
}

export class MultiScalar {
  /** Number of points. */
  readonly count: number
  readonly #memory: FieldMemory
  readonly #curve: PointArithmetic
  readonly #points: number
  readonly #merged: number
  readonly #buckets: number
  readonly #running: number
  readonly #part: number
  readonly #sum: number
  readonly #spare: number

  /** @param points - x | y, 48 bytes each, big-endian, below p, one point after the other; none is infinity */
  constructor(points: Uint8Array) {
    this.count = points.length / POINT_LENGTH
    const memory = new FieldMemory(2 * this.count * AFFINE + (BUCKETS + 3) * EXTENDED + SPARE_ELEMENTS)
    this.#memory = memory
    this.#curve = new PointArithmetic(memory)
    this.#points = memory.allocate(this.count * AFFINE)
    this.#merged = memory.allocate(this.count * AFFINE)
    this.#buckets = memory.allocate(BUCKETS * EXTENDED)
    this.#running = memory.allocate(EXTENDED)
    this.#part = memory.allocate(EXTENDED)
    this.#sum = memory.allocate(EXTENDED)
    this.#spare = memory.allocate(1)
    for (let i = 0; i < 2 * this.count; i++) {
      const bytes = points.subarray(i * COORDINATE_LENGTH, (i + 1) * COORDINATE_LENGTH)
      memory.writeBytes(this.#points + i * ELEMENT_BYTES, bytes)
    }
  }

  /** Whether every point satisfies the equation of the curve. */
  allOnCurve(): boolean {
    for (let i = 0; i < this.count; i++) {
      if (!this.#curve.isOnCurve(this.#points + i * AFFINE_BYTES)) return false
    }
    return true
  }

  /**
   * Sum of the points times the scalars.
   * @param scalars - below r, one for each point
   * @returns x | y as the constructor takes them; undefined for infinity
   */
  sum(scalars: readonly bigint[]): Uint8Array | undefined {
    const short: Terms = { points: [], scalars: [] }
    const long = new Map<bigint, number[]>()
    for (let i = 0; i < this.count; i++) {
      const scalar = scalars[i] as bigint
      const point = this.#points + i * AFFINE_BYTES
      if (scalar >> BigInt(SHORT_BITS) === 0n) {
        short.points.push(point)
        short.scalars.push(scalar)
        continue
      }
      const same = long.get(scalar)
      if (same === undefined) long.set(scalar, [point])
      else same.push(point)
    }
    this.#curve.clear(this.#sum)
    const merged = this.#mergeEqual(long)
    this.#addTerms(
      termsWhere(merged, (scalar) => scalar >> BigInt(MIDDLE_BITS) !== 0n),
      LONG_BITS,
    )
    this.#addTerms(
      termsWhere(merged, (scalar) => scalar >> BigInt(MIDDLE_BITS) === 0n),
      MIDDLE_BITS,
    )
    this.#addTerms(short, SHORT_BITS)
    return this.#affine(this.#sum)
  }

  /** One point for each scalar. */
  #mergeEqual(byScalar: ReadonlyMap<bigint, readonly number[]>): Terms {
    const terms: Terms = { points: [], scalars: [] }
    let next = this.#merged
    for (const [scalar, points] of byScalar) {
      if (points.length === 1) {
        terms.points.push(points[0] as number)
      } else {
        this.#curve.clear(this.#running)
        for (const point of points) this.#curve.addAffine(this.#running, point, false)
        const sum = this.#affine(this.#running)
        if (sum === undefined) continue
        this.#memory.writeBytes(next, sum.subarray(0, COORDINATE_LENGTH))
        this.#memory.writeBytes(next + ELEMENT_BYTES, sum.subarray(COORDINATE_LENGTH))
        terms.points.push(next)
        next += AFFINE_BYTES
      }
      terms.scalars.push(scalar)
    }
    return terms
  }

  /** Adds a class of scalars to the total. */
  #addTerms({ points, scalars }: Terms, bits: number): void {
    if (points.length === 0) return
    const curve = this.#curve
    const window = windowFor(points.length, bits)
    const windows = Math.ceil((bits + 1) / window)
    const digits = signedDigits(scalars, bits, window)
    const buckets = 2 ** (window - 1)
    curve.clear(this.#part)
    for (let w = windows - 1; w >= 0; w--) {
      for (let i = 0; i < window; i++) curve.double(this.#part)
      this.#memory.clear(this.#buckets, buckets * EXTENDED)
      for (let i = 0; i < points.length; i++) {
        const digit = digits[i * windows + w] as number
        if (digit === 0) continue
        const bucket = this.#buckets + (Math.abs(digit) - 1) * EXTENDED_BYTES
        curve.addAffine(bucket, points[i] as number, digit < 0)
      }
      // Sum of bucket k times k: the running sum from the top is added once for every step.
      curve.clear(this.#running)
      for (let k = buckets - 1; k >= 0; k--) {
        curve.add(this.#running, this.#buckets + k * EXTENDED_BYTES)
        curve.add(this.#part, this.#running)
      }
    }
    curve.add(this.#sum, this.#part)
  }

  #affine(point: number): Uint8Array | undefined {
    if (this.#curve.isInfinity(point)) return undefined
    const [x, y, zz, zzz] = [0, 1, 2, 3].map((i) => this.#memory.read(point + i * ELEMENT_BYTES, this.#spare))
    // 1/ZZ and 1/ZZZ by one inversion: ZZ^3 = ZZZ^2.
    const inverse = invertModulo(zzz as bigint, FIELD_PRIME)
    const inverseZ = ((zz as bigint) * inverse) % FIELD_PRIME
    const affineX = ((x as bigint) * ((inverseZ * inverseZ) % FIELD_PRIME)) % FIELD_PRIME
    const affineY = ((y as bigint) * inverse) % FIELD_PRIME
    return concatBytes(bigIntToBytes(affineX, COORDINATE_LENGTH), bigIntToBytes(affineY, COORDINATE_LENGTH))
  }
}
