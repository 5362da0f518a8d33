/**
 * Points of y^2 = x^3 + 4 in a {@link FieldMemory}. Affine: x, y. Extended: X, Y, ZZ, ZZZ with x = X/ZZ, y = Y/ZZZ and
 * ZZ^3 = ZZZ^2; infinity has ZZ = 0.
 *
 * Bounds, in multiples of p: products below 1.5, stored X and Y below 10, so that differences with sub16 stay below 18.
 * @see hyperelliptic.org/EFD g1p/auto-shortw-xyzz.html: add-2008-s, dbl-2008-s-1, mdbl-2008-s-1
 */
import { ELEMENT_BYTES } from './fieldCode.ts'
import type { FieldMemory } from './fieldMemory.ts'

/** Elements of each form. */
export const AFFINE = 2
export const EXTENDED = 4
/** Bytes of each form. */
export const AFFINE_BYTES: number = AFFINE * ELEMENT_BYTES
export const EXTENDED_BYTES: number = EXTENDED * ELEMENT_BYTES

const Y = ELEMENT_BYTES
const ZZ = 2 * ELEMENT_BYTES
const ZZZ = 3 * ELEMENT_BYTES

export class PointArithmetic {
  readonly #memory: FieldMemory
  readonly #t: readonly number[]
  readonly #zero: number
  readonly #one: number
  readonly #b: number
  readonly #other: number

  constructor(memory: FieldMemory) {
    this.#memory = memory
    this.#t = Array.from({ length: 6 }, () => memory.allocate(1))
    this.#zero = memory.allocate(1)
    this.#one = memory.allocate(1)
    memory.write(this.#one, 1n)
    this.#b = memory.allocate(1)
    memory.write(this.#b, 4n)
    this.#other = memory.allocate(EXTENDED)
  }

  /** Whether y^2 = x^3 + 4. */
  isOnCurve(affine: number): boolean {
    const { field } = this.#memory
    const [left, right] = this.#t as [number, number]
    field.mul(right, affine, affine)
    field.mul(right, right, affine)
    field.add(right, right, this.#b)
    field.mul(left, affine + Y, affine + Y)
    field.sub8(left, left, right)
    field.mul(left, left, this.#one)
    return this.#memory.isZero(left)
  }

  isInfinity(point: number): boolean {
    return this.#memory.isZero(point + ZZ)
  }

  clear(point: number): void {
    this.#memory.clear(point, EXTENDED)
  }

  copy(to: number, from: number): void {
    this.#memory.copy(to, from, EXTENDED)
  }

  /** out = affine point or its negative. */
  set(out: number, affine: number, negative: boolean): void {
    this.#memory.copy(out, affine, AFFINE)
    if (negative) this.#memory.field.sub8(out + Y, this.#zero, affine + Y)
    this.#memory.copy(out + ZZ, this.#one, 1)
    this.#memory.copy(out + ZZZ, this.#one, 1)
  }

  /** sum += affine point, or -= it. */
  addAffine(sum: number, affine: number, negative: boolean): void {
    if (this.isInfinity(sum)) {
      this.set(sum, affine, negative)
      return
    }
    if (this.#memory.field.addAffine(sum, affine, negative ? 1 : 0) === 1) return
    this.set(this.#other, affine, negative)
    this.add(sum, this.#other)
  }

  /** sum += other; both extended. */
  add(sum: number, other: number): void {
    if (this.isInfinity(other)) return
    if (this.isInfinity(sum)) {
      this.copy(sum, other)
      return
    }
    const { field } = this.#memory
    const [p, r, pp, ppp, q, t] = this.#t as [number, number, number, number, number, number]
    field.mul(q, sum, other + ZZ)
    field.mul(p, other, sum + ZZ)
    field.sub8(p, p, q)
    field.mul(t, sum + Y, other + ZZZ)
    field.mul(r, other + Y, sum + ZZZ)
    field.sub8(r, r, t)
    field.mul(pp, p, p)
    if (this.#memory.isZero(pp)) {
      this.#addSame(sum, r)
      return
    }
    field.mul(ppp, p, pp)
    field.mul(q, q, pp)
    field.mul(sum + ZZ, sum + ZZ, other + ZZ)
    field.mul(sum + ZZ, sum + ZZ, pp)
    field.mul(sum + ZZZ, sum + ZZZ, other + ZZZ)
    field.mul(sum + ZZZ, sum + ZZZ, ppp)
    field.add(sum + Y, t, this.#zero)
    this.#finish(sum, sum + Y, p, r, ppp, q, t)
  }

  double(point: number): void {
    if (this.isInfinity(point)) return
    const { field } = this.#memory
    const [u, v, w, s, m, t] = this.#t as [number, number, number, number, number, number]
    field.add(u, point + Y, point + Y)
    field.mul(v, u, u)
    field.mul(w, u, v)
    field.mul(s, point, v)
    field.mul(m, point, point)
    field.add(t, m, m)
    field.add(m, m, t)
    field.mul(point, m, m)
    field.add(t, s, s)
    field.sub8(point, point, t)
    field.sub16(s, s, point)
    field.mul(s, m, s)
    field.mul(t, w, point + Y)
    field.sub8(point + Y, s, t)
    field.mul(point + ZZ, v, point + ZZ)
    field.mul(point + ZZZ, w, point + ZZZ)
  }

  /** X = r^2 - ppp - 2 q, Y = r (q - X) - y ppp. */
  #finish(x: number, y: number, spare: number, r: number, ppp: number, q: number, t: number): void {
    const { field } = this.#memory
    field.mul(t, r, r)
    field.add(spare, q, q)
    field.add(spare, spare, ppp)
    field.sub8(x, t, spare)
    field.sub16(q, q, x)
    field.mul(q, r, q)
    field.mul(t, y, ppp)
    field.sub8(y, q, t)
  }

  /** The x of both are equal: the points are (r is zero) or they are negatives. */
  #addSame(sum: number, r: number): void {
    const { field } = this.#memory
    field.mul(r, r, this.#one)
    if (this.#memory.isZero(r)) this.double(sum)
    else this.clear(sum)
  }
}
