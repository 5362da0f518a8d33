/**
 * Sums of many lists of affine points at once: pairs of points are added, the inverses that this takes made together, until
 * each list has one point. 5 multiplications and a square for each addition, against 8 and two in other coordinates.
 * @see Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", section 10.3.1
 */
import type { Bls12381Engine } from './engine.ts'
import { EXTENDED_BYTES, type ExtendedPoints } from './extendedPoints.ts'
import { invertFp } from './fieldRoots.ts'
import { ELEMENT_BYTES, PAIR_BYTES } from './limbs.ts'

/** Additions that share an inversion; even, they are made two at a time. */
const BATCH = 4096
/** Bytes of a point that is added: x, y. */
const SUM_BYTES = 2 * ELEMENT_BYTES

/**
 * A point: the offset of its x, y and (of those that are to be subtracted too) -y, one after the other; its lowest bit says
 * whether -y is meant. 0 is infinity.
 */
export type PointReference = number

/** Offset of a point's x. */
export const xOf = (reference: PointReference): number => reference & ~1
/** Offset of the y that is meant: y, or -y behind it. */
export const yOf = (reference: PointReference): number => (reference & ~1) + ELEMENT_BYTES * (1 + (reference & 1))

/** Additions that wait for their inverses, and where in the lists each result is written (-1: nowhere). */
class Pending {
  readonly a: Int32Array = new Int32Array(BATCH)
  readonly b: Int32Array = new Int32Array(BATCH)
  readonly to: Int32Array = new Int32Array(BATCH)
  count = 0

  push(a: PointReference, b: PointReference, to: number): void {
    this.set(this.count++, a, b, to)
  }

  set(i: number, a: PointReference, b: PointReference, to: number): void {
    this.a[i] = a
    this.b[i] = b
    this.to[i] = to
  }

  /** Points of additions i and i + 1. */
  pair(i: number): readonly [a: number, a2: number, b: number, b2: number] {
    return [this.a[i] as number, this.a[i + 1] as number, this.b[i] as number, this.b[i + 1] as number]
  }
}

/** Sums of lists of points, made in one engine's memory, which holds what they give. */
export class AffineSums {
  readonly #engine: Bls12381Engine
  readonly #extended: ExtendedPoints
  readonly #pending = new Pending()
  /** Two points whose difference in x is one. */
  readonly #nothing: readonly [PointReference, PointReference]

  constructor(engine: Bls12381Engine, extended: ExtendedPoints) {
    this.#engine = engine
    this.#extended = extended
    const first = engine.allocate(4 * ELEMENT_BYTES)
    engine.clear(first, 4 * ELEMENT_BYTES)
    engine.copy(first + SUM_BYTES, engine.one, ELEMENT_BYTES)
    this.#nothing = [first, first + SUM_BYTES]
  }

  /**
   * The sum of each list, in memory that is allocated here.
   * @param points - all lists, one after the other; overwritten
   * @param starts - where each begins, and the end
   */
  sum(points: Int32Array, starts: Int32Array): Int32Array {
    const lists = starts.length - 1
    const counts = Int32Array.from({ length: lists }, (_, i) => (starts[i + 1] as number) - (starts[i] as number))
    const engine = this.#engine
    const pending = this.#pending
    // The product of the first i pairs of differences.
    const products = engine.allocate((BATCH / 2 + 1) * PAIR_BYTES)
    engine.copy(products, engine.one, ELEMENT_BYTES)
    engine.copy(products + ELEMENT_BYTES, engine.one, ELEMENT_BYTES)
    for (;;) {
      let isDone = true
      let hasInfinity = false
      const finish = (): void => {
        if (this.#finish(products, points)) hasInfinity = true
      }
      for (let list = 0; list < lists; list++) {
        const count = counts[list] as number
        if (count < 2) continue
        isDone = false
        const start = starts[list] as number
        for (let i = 0; i + 1 < count; i += 2) {
          pending.push(points[start + i] as number, points[start + i + 1] as number, start + i / 2)
          if (pending.count === BATCH) finish()
        }
        if (count % 2 === 1) points[start + (count - 1) / 2] = points[start + count - 1] as number
        counts[list] = Math.ceil(count / 2)
      }
      finish()
      if (hasInfinity) this.#removeInfinity(points, starts, counts)
      if (isDone) break
    }
    return Int32Array.from({ length: lists }, (_, i) => (counts[i] === 0 ? 0 : (points[starts[i] as number] as number)))
  }

  /** Does what waits. @returns whether a result is infinity */
  #finish(products: number, points: Int32Array): boolean {
    const engine = this.#engine
    const pending = this.#pending
    if (pending.count === 0) return false
    let hasInfinity = false
    if (pending.count % 2 === 1) pending.push(...this.#nothing, -1)
    for (let i = 0; i < pending.count; i += 2) {
      const [a, a2, b, b2] = pending.pair(i)
      const before = products + (i / 2) * PAIR_BYTES
      const product = before + PAIR_BYTES
      engine.call.differenceProduct(product, before, xOf(a), xOf(a2), xOf(b), xOf(b2))
      if (!engine.isZero(product) && !engine.isZero(product + ELEMENT_BYTES)) continue
      for (const lane of [0, 1]) {
        if (!engine.isZero(product + lane * ELEMENT_BYTES)) continue
        const result = this.#addSameX(pending.a[i + lane] as number, pending.b[i + lane] as number)
        points[pending.to[i + lane] as number] = result
        if (result === 0) hasInfinity = true
        pending.set(i + lane, ...this.#nothing, -1)
      }
      const [p, p2, q, q2] = pending.pair(i)
      engine.call.differenceProduct(product, before, xOf(p), xOf(p2), xOf(q), xOf(q2))
    }
    const inverse = engine.allocate(PAIR_BYTES)
    const results = engine.allocate(pending.count * SUM_BYTES)
    this.#invertBoth(inverse, products + (pending.count / 2) * PAIR_BYTES)
    for (let i = pending.count - 2; i >= 0; i -= 2) {
      const [a, a2, b, b2] = pending.pair(i)
      const out = results + i * SUM_BYTES
      const before = products + (i / 2) * PAIR_BYTES
      const first = [xOf(a), xOf(a2), yOf(a), yOf(a2)] as const
      const second = [xOf(b), xOf(b2), yOf(b), yOf(b2)] as const
      engine.call.addByInverse(out, out + SUM_BYTES, inverse, before, ...first, ...second)
      for (const lane of [0, 1]) {
        const to = pending.to[i + lane] as number
        if (to >= 0) points[to] = out + lane * SUM_BYTES
      }
    }
    pending.count = 0
    return hasInfinity
  }

  /** Inverses of a pair by one: of their product. */
  #invertBoth(out: number, pair: number): void {
    const { call } = this.#engine
    const other = pair + ELEMENT_BYTES
    this.#engine.within(() => {
      const inverse = this.#engine.allocate(ELEMENT_BYTES)
      call.fpMul(inverse, pair, other)
      invertFp(this.#engine, inverse, inverse)
      call.fpMul(out, inverse, other)
      call.fpMul(out + ELEMENT_BYTES, inverse, pair)
    })
  }

  /** Points with the same x: their sum is a double, or infinity. */
  #addSameX(a: PointReference, b: PointReference): PointReference {
    const engine = this.#engine
    const result = engine.allocate(SUM_BYTES)
    return engine.within(() => {
      const sum = engine.allocate(EXTENDED_BYTES)
      this.#extended.clear(sum)
      this.#extended.addAffine(sum, xOf(a), yOf(a))
      this.#extended.addAffine(sum, xOf(b), yOf(b))
      if (this.#extended.isInfinity(sum)) return 0
      this.#extended.toAffine(result, sum)
      return result
    })
  }

  #removeInfinity(points: Int32Array, starts: Int32Array, counts: Int32Array): void {
    for (let list = 0; list < counts.length; list++) {
      const start = starts[list] as number
      let kept = start
      for (let i = start; i < start + (counts[list] as number); i++) {
        if (points[i] !== 0) points[kept++] = points[i] as number
      }
      counts[list] = kept - start
    }
  }
}
