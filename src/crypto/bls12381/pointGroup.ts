/** What both groups share: Jacobian points of one curve, see `pointCode.ts`. */
import type { Bls12381Engine } from './engine.ts'
import type { Bls12381Functions } from './module.ts'
import { productOfPowers } from './productOfPowers.ts'

/** Names of the operations of a curve and of its field. */
export interface CurveOperations {
  readonly double: 'g1Double' | 'g2Double'
  readonly add: 'g1Add' | 'g2Add'
  readonly mul: 'fpMul' | 'fp2Mul'
  readonly sqr: 'fpSqr' | 'fp2Sqr'
  readonly plus: 'fpAdd' | 'fp2Add'
  readonly minus: 'fpSub' | 'fp2Sub'
  readonly reduce: 'fpReduce' | 'fp2Reduce'
}

/** A point in memory is X, Y and Z, one after the other. */
export class PointGroup {
  protected readonly engine: Bls12381Engine
  readonly #names: CurveOperations
  /** Elements of Fp in a coordinate, and its bytes. */
  readonly #elements: number
  readonly coordinateBytes: number
  readonly pointBytes: number
  /** The constant of the curve's equation. */
  protected readonly b: number

  protected constructor(engine: Bls12381Engine, names: CurveOperations, elements: number) {
    this.engine = engine
    this.#names = names
    this.#elements = elements
    this.coordinateBytes = elements * 64
    this.pointBytes = 3 * this.coordinateBytes
    this.b = engine.allocate(this.coordinateBytes)
  }

  protected get call(): Bls12381Functions {
    return this.engine.call
  }

  isInfinity(point: number): boolean {
    const z = point + 2 * this.coordinateBytes
    return this.engine.isZero(z) && (this.#elements === 1 || this.engine.isZero(z + 64))
  }

  setInfinity(point: number): void {
    this.engine.clear(point, this.pointBytes)
  }

  /** Makes Z one: X and Y are there. */
  finishAffine(point: number): void {
    this.engine.copy(point + 2 * this.coordinateBytes, this.engine.one, this.coordinateBytes)
  }

  isAffine(point: number): boolean {
    const { words } = this.engine
    const [z, unit] = [(point + 2 * this.coordinateBytes) / 4, this.engine.one / 4]
    for (let i = 0; i < this.coordinateBytes / 4; i++) if (words[z + i] !== words[unit + i]) return false
    return true
  }

  /** right = x^3 + b for the point's X. */
  protected rightSide(right: number, point: number): void {
    const { mul, sqr, plus, reduce } = this.#names
    this.call[sqr](right, point)
    this.call[mul](right, right, point)
    this.call[plus](right, right, this.b)
    this.call[reduce](right, right)
  }

  /** Whether an affine point satisfies the equation. */
  isOnCurve(point: number): boolean {
    return this.engine.within(() => {
      const right = this.engine.allocate(this.coordinateBytes)
      const left = this.engine.allocate(this.coordinateBytes)
      this.rightSide(right, point)
      this.call[this.#names.sqr](left, point + this.coordinateBytes)
      return this.engine.equal(left, right, this.#elements)
    })
  }

  negate(out: number, point: number): void {
    const bytes = this.coordinateBytes
    if (out !== point) this.engine.copy(out, point, this.pointBytes)
    this.call[this.#names.minus](out + bytes, this.engine.zero, point + bytes)
  }

  double(out: number, point: number): void {
    this.call[this.#names.double](out, point)
  }

  /** out = a + b; out is neither. */
  add(out: number, a: number, b: number): void {
    if (this.isInfinity(a)) {
      this.engine.copy(out, b, this.pointBytes)
    } else if (this.isInfinity(b)) {
      this.engine.copy(out, a, this.pointBytes)
    } else {
      this.call[this.#names.add](out, a, b)
      // Equal points, or opposite ones, of which the sum is infinity.
      if (this.isInfinity(out) && this.#sameY(a, b)) this.double(out, a)
    }
  }

  /** Of points with the same x, neither infinity. */
  #sameY(a: number, b: number): boolean {
    const { mul, sqr } = this.#names
    const bytes = this.coordinateBytes
    return this.engine.within(() => {
      const [left, right] = [this.engine.allocate(bytes), this.engine.allocate(bytes)]
      for (const [out, own, other] of [
        [left, a, b],
        [right, b, a],
      ] as const) {
        this.call[sqr](out, other + 2 * bytes)
        this.call[mul](out, out, other + 2 * bytes)
        this.call[mul](out, out, own + bytes)
      }
      return this.engine.equal(left, right, this.#elements)
    })
  }

  /** out = X / Z^2, Y / Z^3, one. @param inverse - 1 / Z */
  protected scaleToAffine(point: number, inverse: number): void {
    const { mul, sqr } = this.#names
    const bytes = this.coordinateBytes
    this.engine.within(() => {
      const square = this.engine.allocate(bytes)
      this.call[sqr](square, inverse)
      this.call[mul](point, point, square)
      this.call[mul](square, square, inverse)
      this.call[mul](point + bytes, point + bytes, square)
    })
    this.finishAffine(point)
  }

  /** out = sum of points times scalars that are not negative. */
  protected sumOf(out: number, points: readonly number[], scalars: readonly bigint[]): void {
    const { engine } = this
    engine.within(() => {
      const fresh = (): number => engine.allocate(this.pointBytes)
      const infinity = fresh()
      this.setInfinity(infinity)
      const sum = productOfPowers(points, scalars, {
        one: infinity,
        multiply: (a, b) => {
          const place = fresh()
          this.add(place, a, b)
          return place
        },
        square: (a) => {
          const place = fresh()
          this.double(place, a)
          return place
        },
        invert: (a) => {
          const place = fresh()
          this.negate(place, a)
          return place
        },
      })
      engine.copy(out, sum, this.pointBytes)
    })
  }
}
