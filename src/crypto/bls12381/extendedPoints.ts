/** Sums of points of G1 in the extended form of `pointCode.ts`, with the cases that its formulas leave out. */
import type { Bls12381Engine } from './engine.ts'
import { invertFp } from './fieldRoots.ts'
import { ELEMENT_BYTES } from './limbs.ts'

/** Bytes of a point: X, Y, ZZ, ZZZ. All zeros stand for infinity. */
export const EXTENDED_BYTES: number = 4 * ELEMENT_BYTES
const Y = ELEMENT_BYTES
const ZZ = 2 * ELEMENT_BYTES
const ZZZ = 3 * ELEMENT_BYTES

/**
 * Sums that hold for every two points, infinity, equal and opposite ones too. Points are offsets in the engine's memory.
 */
export class ExtendedPoints {
  readonly #engine: Bls12381Engine

  constructor(engine: Bls12381Engine) {
    this.#engine = engine
  }

  isInfinity(point: number): boolean {
    return this.#engine.isZero(point + ZZ)
  }

  clear(point: number): void {
    this.#engine.clear(point, EXTENDED_BYTES)
  }

  double(point: number): void {
    if (!this.isInfinity(point)) this.#engine.call.extendedDouble(point)
  }

  /** sum += affine point (x, y). */
  addAffine(sum: number, x: number, y: number): void {
    const engine = this.#engine
    if (this.isInfinity(sum)) this.#set(sum, x, y)
    else if (engine.call.extendedAddAffine(sum, x, y) === 0) {
      engine.within(() => {
        const other = engine.allocate(EXTENDED_BYTES)
        this.#set(other, x, y)
        this.#addSameX(sum, other)
      })
    }
  }

  /** sum += other. */
  add(sum: number, other: number): void {
    if (this.isInfinity(other)) return
    if (this.isInfinity(sum)) this.#engine.copy(sum, other, EXTENDED_BYTES)
    else if (this.#engine.call.extendedAdd(sum, other) === 0) this.#addSameX(sum, other)
  }

  /** out = x, y of a point that is not infinity. */
  toAffine(out: number, point: number): void {
    this.allToAffine([[out, point]])
  }

  /** The same of many, by one inversion. */
  allToAffine(points: readonly (readonly [out: number, point: number])[]): void {
    const engine = this.#engine
    const { call } = engine
    engine.within(() => {
      const [inverse, own, square] = [0, 1, 2].map(() => engine.allocate(ELEMENT_BYTES)) as [number, number, number]
      // The product of the first i denominators.
      const products = engine.allocate((points.length + 1) * ELEMENT_BYTES)
      engine.copy(products, engine.one, ELEMENT_BYTES)
      for (const [i, [, point]] of points.entries()) {
        const before = products + i * ELEMENT_BYTES
        call.fpMul(before + ELEMENT_BYTES, before, point + ZZZ)
      }
      invertFp(engine, inverse, products + points.length * ELEMENT_BYTES)
      for (let i = points.length - 1; i >= 0; i--) {
        const [out, point] = points[i] as readonly [number, number]
        call.fpMul(own, inverse, products + i * ELEMENT_BYTES)
        call.fpMul(inverse, inverse, point + ZZZ)
        // 1/ZZ too: ZZ^3 = ZZZ^2.
        call.fpMul(square, own, point + ZZ)
        call.fpSqr(square, square)
        call.fpMul(out, point, square)
        call.fpMul(out + Y, point + Y, own)
      }
    })
  }

  #set(out: number, x: number, y: number): void {
    const engine = this.#engine
    engine.copy(out, x, ELEMENT_BYTES)
    engine.copy(out + Y, y, ELEMENT_BYTES)
    engine.copy(out + ZZ, engine.one, ELEMENT_BYTES)
    engine.copy(out + ZZZ, engine.one, ELEMENT_BYTES)
  }

  /** The points are equal, or opposite. */
  #addSameX(sum: number, other: number): void {
    const engine = this.#engine
    const same = engine.within(() => {
      const [left, right] = [engine.allocate(ELEMENT_BYTES), engine.allocate(ELEMENT_BYTES)]
      engine.call.fpMul(left, sum + Y, other + ZZZ)
      engine.call.fpMul(right, other + Y, sum + ZZZ)
      return engine.equal(left, right, 1)
    })
    if (same) this.double(sum)
    else this.clear(sum)
  }
}
