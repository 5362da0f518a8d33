/**
 * Sums of many points of G1 times scalars (Pippenger): the points of a verifying key stay in memory, ready for use.
 *
 * Scalars of up to 32 bits (challenges), of up to 168 (sums of weighted challenges) and longer ones (commitments) are summed
 * apart, each with windows of its own length; points under the same long scalar are added first. Of the points of small keys
 * multiples are kept, so that no window needs a doubling.
 */
import { bigIntToBytes, concatBytes } from '../../base/bytes.ts'
import { AffineSums, xOf, yOf } from './affineSums.ts'
import { Bls12381Engine } from './engine.ts'
import { EXTENDED_BYTES, ExtendedPoints } from './extendedPoints.ts'
import { COORDINATE_LENGTH, ELEMENT_BYTES } from './limbs.ts'
import { signedDigits, windowFor } from './signedDigits.ts'

/** Bytes of an uncompressed point. */
const POINT_LENGTH = 2 * COORDINATE_LENGTH
/** Bytes of a point in memory: x, y, -y. */
const POINT_BYTES = 3 * ELEMENT_BYTES
/** Longest of the short scalars (challenges), of those in between (sums of weighted challenges), and of all, bits. */
const SHORT_BITS = 32
const MIDDLE_BITS = 168
const LONG_BITS = 255
/** What emptying one bucket costs, in additions of a point. */
const BUCKET_COST = 3.5
/** Points of several windows that are summed together: 128 bytes of memory each. */
const ENTRIES = 32_768
/** Most points of which multiples are kept, and the window that these are for: 6 KB a point, which window PoSt has no use for. */
const KEPT = 1024
const KEPT_WINDOW = 8
/** Groups of points under equal scalars whose sums are kept; other groups than a circuit's own are of no use again. */
const KEPT_GROUPS = 64

/** Points, each by its offset, with their scalars. */
interface Terms {
  readonly points: number[]
  readonly scalars: bigint[]
}

const noTerms = (): Terms => ({ points: [], scalars: [] })

/** Points under each scalar. */
function byScalar({ points, scalars }: Terms): Map<bigint, number[]> {
  const lists = new Map<bigint, number[]>()
  for (const [i, scalar] of scalars.entries()) {
    const same = lists.get(scalar)
    if (same === undefined) lists.set(scalar, [points[i] as number])
    else same.push(points[i] as number)
  }
  return lists
}

/** The points of one key in a memory of its own, and their sums under scalars. */
export class MultiScalar {
  /** Number of points. */
  readonly count: number
  readonly #engine = new Bls12381Engine()
  readonly #extended = new ExtendedPoints(this.#engine)
  readonly #sums = new AffineSums(this.#engine, this.#extended)
  readonly #points: number
  readonly #b: number
  /** For each point its multiples by 2^(KEPT_WINDOW w), as far as they were needed. */
  readonly #multiples = new Map<number, Int32Array>()
  /** Sums of groups of points, by the points' offsets; 0 is infinity. */
  readonly #groups = new Map<string, number>()
  /** Sum of all points, once it was asked for. */
  #total: number | undefined

  /** @param points - x | y, 48 bytes each, big-endian, below p, one point after the other; none is infinity */
  constructor(points: Uint8Array) {
    const engine = this.#engine
    this.count = points.length / POINT_LENGTH
    this.#b = engine.allocate(ELEMENT_BYTES)
    engine.writeNumber(this.#b, 4n)
    this.#points = engine.allocate(this.count * POINT_BYTES)
    for (let i = 0; i < this.count; i++) {
      const place = this.#points + i * POINT_BYTES
      const bytes = points.subarray(i * POINT_LENGTH, (i + 1) * POINT_LENGTH)
      engine.writeBytes(place, bytes)
      engine.writeBytes(place + ELEMENT_BYTES, bytes.subarray(COORDINATE_LENGTH))
      engine.call.fpSub(place + 2 * ELEMENT_BYTES, engine.zero, place + ELEMENT_BYTES)
    }
  }

  /** Whether every point satisfies the equation of the curve. */
  allOnCurve(): boolean {
    const engine = this.#engine
    const { call } = engine
    return engine.within(() => {
      const [left, right] = [engine.allocate(ELEMENT_BYTES), engine.allocate(ELEMENT_BYTES)]
      for (let i = 0; i < this.count; i++) {
        const x = this.#points + i * POINT_BYTES
        call.fpSqr(right, x)
        call.fpMul(right, right, x)
        call.fpAdd(right, right, this.#b)
        call.fpSqr(left, x + ELEMENT_BYTES)
        if (!engine.equal(left, right, 1)) return false
      }
      return true
    })
  }

  /**
   * Sum of the points times the scalars.
   * @param scalars - below r, one for each point
   * @returns x | y as the constructor takes them; undefined for infinity
   */
  sum(scalars: readonly bigint[]): Uint8Array | undefined {
    const engine = this.#engine
    const [short, middle, long] = [noTerms(), noTerms(), noTerms()]
    for (let i = 0; i < this.count; i++) {
      const scalar = scalars[i] as bigint
      const terms = scalar >> BigInt(SHORT_BITS) === 0n ? short : scalar >> BigInt(MIDDLE_BITS) === 0n ? middle : long
      terms.points.push(this.#points + i * POINT_BYTES)
      terms.scalars.push(scalar)
    }
    const kept =
      this.count > KEPT
        ? []
        : ([
            [this.#groupEqual(long), LONG_BITS],
            [this.#groupEqual(middle), MIDDLE_BITS],
          ] as const)
    for (const [{ points }, bits] of kept) this.#keepMultiples(points, bits)
    return engine.within(() => {
      const sum = engine.allocate(EXTENDED_BYTES)
      this.#extended.clear(sum)
      if (kept.length > 0) this.#addMultiples(sum, kept)
      else {
        this.#addTerms(sum, this.#mergeEqual(long), LONG_BITS)
        this.#addTerms(sum, this.#mergeEqual(middle), MIDDLE_BITS)
      }
      this.#addTerms(sum, short, SHORT_BITS)
      return this.#bytes(sum)
    })
  }

  /** Sum of some of the points, as {@link sum} gives it. @param indices - each once */
  sumOf(indices: readonly number[]): Uint8Array | undefined {
    const engine = this.#engine
    return engine.within(() => {
      const sum = engine.allocate(EXTENDED_BYTES)
      this.#extended.clear(sum)
      this.#addIndexed(sum, indices, ELEMENT_BYTES)
      return this.#bytes(sum)
    })
  }

  /** Sum of all points but some, as {@link sum} gives it. @param indices - each once */
  sumWithout(indices: readonly number[]): Uint8Array | undefined {
    const engine = this.#engine
    if (this.#total === undefined) {
      this.#total = engine.allocate(EXTENDED_BYTES)
      this.#extended.clear(this.#total)
      this.#addIndexed(this.#total, [...new Array<number>(this.count).keys()], ELEMENT_BYTES)
    }
    const total = this.#total
    return engine.within(() => {
      const sum = engine.allocate(EXTENDED_BYTES)
      engine.copy(sum, total, EXTENDED_BYTES)
      this.#addIndexed(sum, indices, 2 * ELEMENT_BYTES)
      return this.#bytes(sum)
    })
  }

  /** @param y - where in a point lies the y that is meant: y, or -y */
  #addIndexed(sum: number, indices: readonly number[], y: number): void {
    for (const index of indices) {
      const point = this.#points + index * POINT_BYTES
      this.#extended.addAffine(sum, point, point + y)
    }
  }

  /** One point for each scalar, as {@link #mergeEqual}; the sums of the first groups that are asked for are kept. */
  #groupEqual(terms: Terms): Terms {
    const engine = this.#engine
    const grouped = noTerms()
    for (const [scalar, points] of byScalar(terms)) {
      const name = points.join()
      let sum = points.length === 1 ? points[0] : this.#groups.get(name)
      if (sum === undefined && this.#groups.size < KEPT_GROUPS) {
        const place = engine.allocate(POINT_BYTES)
        sum = this.#addPoints(place, points) ? place : 0
        this.#groups.set(name, sum)
      }
      for (const point of sum === undefined ? points : [sum]) {
        if (point === 0) continue
        grouped.points.push(point)
        grouped.scalars.push(scalar)
      }
    }
    return grouped
  }

  /** out = sum of points. @returns false when that is infinity */
  #addPoints(out: number, points: readonly number[]): boolean {
    const engine = this.#engine
    return engine.within(() => {
      const sum = engine.allocate(EXTENDED_BYTES)
      this.#extended.clear(sum)
      for (const point of points) this.#extended.addAffine(sum, point, point + ELEMENT_BYTES)
      if (this.#extended.isInfinity(sum)) return false
      this.#extended.toAffine(out, sum)
      engine.call.fpSub(out + 2 * ELEMENT_BYTES, engine.zero, out + ELEMENT_BYTES)
      return true
    })
  }

  /** Makes multiples that are not there yet. */
  #keepMultiples(points: readonly number[], bits: number): void {
    const engine = this.#engine
    const windows = Math.ceil((bits + 1) / KEPT_WINDOW)
    const missing = points.filter((point) => (this.#multiples.get(point)?.length ?? 0) < windows)
    if (missing.length === 0) return
    const kept = engine.allocate(missing.length * windows * POINT_BYTES)
    engine.within(() => {
      const made: number[] = []
      for (const point of missing) {
        const running = engine.allocate(EXTENDED_BYTES)
        this.#extended.clear(running)
        this.#extended.addAffine(running, point, point + ELEMENT_BYTES)
        for (let w = 0; w < windows; w++) {
          const copy = engine.allocate(EXTENDED_BYTES)
          engine.copy(copy, running, EXTENDED_BYTES)
          made.push(copy)
          for (let i = 0; i < KEPT_WINDOW; i++) this.#extended.double(running)
        }
      }
      this.#extended.allToAffine(made.map((point, i) => [kept + i * POINT_BYTES, point]))
    })
    for (const [i, point] of missing.entries()) {
      const own = Int32Array.from({ length: windows }, (_, w) => kept + (i * windows + w) * POINT_BYTES)
      for (const multiple of own) engine.call.fpSub(multiple + 2 * ELEMENT_BYTES, engine.zero, multiple + ELEMENT_BYTES)
      this.#multiples.set(point, own)
    }
  }

  /** Adds terms by the multiples that are kept: all windows share their buckets. */
  #addMultiples(total: number, classes: readonly (readonly [Terms, bits: number])[]): void {
    const buckets = 2 ** (KEPT_WINDOW - 1)
    const all = classes.map(([{ points, scalars }, bits]) => {
      const digits = signedDigits(scalars, bits, KEPT_WINDOW)
      return { multiples: points.map((point) => this.#multiples.get(point) as Int32Array), digits }
    })
    const sums = this.#bucketSums(buckets, (use) => {
      for (const { multiples, digits } of all) {
        const windows = digits.length / multiples.length
        for (const [i, own] of multiples.entries()) {
          for (let w = 0; w < windows; w++) {
            const digit = digits[i * windows + w] as number
            if (digit !== 0) use(own[w] as number, digit, 0)
          }
        }
      }
    })
    this.#addBuckets(total, sums)
  }

  /** One point for each scalar. */
  #mergeEqual(terms: Terms): Terms {
    const lists = byScalar(terms)
    const engine = this.#engine
    const starts = new Int32Array(lists.size + 1)
    for (const [i, points] of [...lists.values()].entries()) starts[i + 1] = (starts[i] as number) + points.length
    const sums = this.#sums.sum(Int32Array.from([...lists.values()].flat()), starts)
    const merged = noTerms()
    for (const [i, [scalar, points]] of [...lists].entries()) {
      const sum = sums[i] as number
      if (sum === 0) continue
      merged.scalars.push(scalar)
      if (points.length === 1) {
        merged.points.push(sum)
        continue
      }
      const point = engine.allocate(POINT_BYTES)
      engine.copy(point, sum, 2 * ELEMENT_BYTES)
      engine.call.fpSub(point + 2 * ELEMENT_BYTES, engine.zero, point + ELEMENT_BYTES)
      merged.points.push(point)
    }
    return merged
  }

  /** Adds a class of scalars to the total. */
  #addTerms(total: number, { points, scalars }: Terms, bits: number): void {
    if (points.length === 0) return
    const engine = this.#engine
    const window = windowFor(points.length, bits, BUCKET_COST)
    const windows = Math.ceil((bits + 1) / window)
    const digits = signedDigits(scalars, bits, window)
    const together = Math.max(1, Math.floor(ENTRIES / points.length))
    engine.within(() => {
      const part = engine.allocate(EXTENDED_BYTES)
      this.#extended.clear(part)
      for (let high = windows; high > 0; high -= together) {
        const low = Math.max(0, high - together)
        engine.within(() => this.#addWindows(part, points, digits, { windows, low, high, window }))
      }
      this.#extended.add(total, part)
    })
  }

  /** part = part 2^(window (high - low)) + what windows from low to below high are. */
  #addWindows(
    part: number,
    points: readonly number[],
    digits: Int16Array,
    { windows, low, high, window }: { windows: number; low: number; high: number; window: number },
  ): void {
    const buckets = 2 ** (window - 1)
    const sums = this.#bucketSums((high - low) * buckets, (use) => {
      for (let i = 0; i < points.length; i++) {
        for (let w = low; w < high; w++) {
          const digit = digits[i * windows + w] as number
          if (digit !== 0) use(points[i] as number, digit, (w - low) * buckets)
        }
      }
    })
    for (let w = high - 1; w >= low; w--) {
      for (let i = 0; i < window; i++) this.#extended.double(part)
      this.#addBuckets(part, sums.subarray((w - low) * buckets, (w + 1 - low) * buckets))
    }
  }

  /**
   * The sum of the points in each bucket.
   * @param each - gives every point with its digit and the first bucket of its window, twice the same
   */
  #bucketSums(buckets: number, each: (use: (point: number, digit: number, first: number) => void) => void): Int32Array {
    const starts = new Int32Array(buckets + 1)
    // Sorted by counting: the start of each bucket, which moves while it is filled.
    each((_, digit, first) => {
      const bucket = first + Math.abs(digit)
      starts[bucket] = (starts[bucket] as number) + 1
    })
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number)
    const next = starts.slice()
    const sorted = new Int32Array(starts.at(-1) as number)
    each((point, digit, first) => {
      const bucket = first + Math.abs(digit) - 1
      sorted[next[bucket] as number] = digit < 0 ? point + 1 : point
      next[bucket] = (next[bucket] as number) + 1
    })
    return this.#sums.sum(sorted, starts)
  }

  /** total += sum of bucket k times k + 1: the running sum from the top is added once for every step. */
  #addBuckets(total: number, sums: Int32Array): void {
    const extended = this.#extended
    this.#engine.within(() => {
      const running = this.#engine.allocate(EXTENDED_BYTES)
      extended.clear(running)
      for (const bucket of sums.toReversed()) {
        if (bucket !== 0) extended.addAffine(running, xOf(bucket), yOf(bucket))
        extended.add(total, running)
      }
    })
  }

  #bytes(point: number): Uint8Array | undefined {
    const engine = this.#engine
    if (this.#extended.isInfinity(point)) return undefined
    this.#extended.toAffine(point, point)
    const [x, y] = [engine.readNumber(point), engine.readNumber(point + ELEMENT_BYTES)]
    return concatBytes(bigIntToBytes(x, COORDINATE_LENGTH), bigIntToBytes(y, COORDINATE_LENGTH))
  }
}
