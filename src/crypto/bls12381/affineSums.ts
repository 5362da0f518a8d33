/**
 * Sums of many lists of affine points at once: pairs of points are added, the inverses that this takes made together, until
 * each list has one point. 5 multiplications and a square for each addition, against 8 and two in other coordinates.
 * @see Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", section 10.3.1
 */
import type { Bls12381Engine } from './engine.ts'
import { EXTENDED_BYTES, type ExtendedPoints } from './extendedPoints.ts'
import { invertFp } from './fieldRoots.ts'
import { ELEMENT_BYTES } from './limbs.ts'

/** Additions that share an inversion. */
const BATCH = 1024
/** Bytes of a point that is added: x, y. */
const SUM_BYTES = 2 * ELEMENT_BYTES

/**
 * A point: the offset of its x, y and (of those that are to be subtracted too) -y, one after the other; its lowest bit says
 * whether -y is meant. 0 is infinity.
 */
export type PointReference = number

export const xOf = (reference: PointReference): number => reference & ~1
export const yOf = (reference: PointReference): number => (reference & ~1) + ELEMENT_BYTES * (1 + (reference & 1))

/** An addition that waits for its inverse. */
interface Pending {
  readonly a: PointReference
  readonly b: PointReference
  /** Where its result is written in the lists. */
  readonly to: number
}

export class AffineSums {
  readonly #engine: Bls12381Engine
  readonly #extended: ExtendedPoints

  constructor(engine: Bls12381Engine, extended: ExtendedPoints) {
    this.#engine = engine
    this.#extended = extended
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
    const products = engine.allocate((BATCH + 1) * ELEMENT_BYTES)
    engine.copy(products, engine.one, ELEMENT_BYTES)
    for (;;) {
      const pending: Pending[] = []
      let hasInfinity = false
      let isDone = true
      for (let list = 0; list < lists; list++) {
        const count = counts[list] as number
        if (count < 2) continue
        isDone = false
        const start = starts[list] as number
        for (let i = 0; i + 1 < count; i += 2) {
          const [a, b, to] = [points[start + i] as number, points[start + i + 1] as number, start + i / 2]
          const before = products + pending.length * ELEMENT_BYTES
          engine.call.differenceProduct(before + ELEMENT_BYTES, before, xOf(a), xOf(b))
          if (engine.isZero(before + ELEMENT_BYTES)) {
            const result = this.#addSameX(a, b)
            points[to] = result
            if (result === 0) hasInfinity = true
            continue
          }
          pending.push({ a, b, to })
          if (pending.length === BATCH) this.#finish(pending, products, points)
        }
        if (count % 2 === 1) points[start + (count - 1) / 2] = points[start + count - 1] as number
        counts[list] = Math.ceil(count / 2)
      }
      this.#finish(pending, products, points)
      if (hasInfinity) this.#removeInfinity(points, starts, counts)
      if (isDone) break
    }
    return Int32Array.from({ length: lists }, (_, i) => (counts[i] === 0 ? 0 : (points[starts[i] as number] as number)))
  }

  /** Does what waits, from the last to the first. */
  #finish(pending: Pending[], products: number, points: Int32Array): void {
    const engine = this.#engine
    if (pending.length === 0) return
    const inverse = engine.allocate(ELEMENT_BYTES)
    const results = engine.allocate(pending.length * SUM_BYTES)
    invertFp(engine, inverse, products + pending.length * ELEMENT_BYTES)
    for (let i = pending.length - 1; i >= 0; i--) {
      const { a, b, to } = pending[i] as Pending
      const out = results + i * SUM_BYTES
      engine.call.addByInverse(out, inverse, products + i * ELEMENT_BYTES, xOf(a), yOf(a), xOf(b), yOf(b))
      points[to] = out
    }
    pending.length = 0
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
