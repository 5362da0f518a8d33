/**
 * G1 of BLS12-381: points of y^2 = x^3 + 4 over Fp of order r.
 * @see Scott, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves", section 6
 */
import { bigIntToBytes } from '../../base/bytes.ts'
import { COMPRESSED, encodedCoordinate, INFINITY, isSoundEncoding, LARGER } from './encoding.ts'
import type { Bls12381Engine } from './engine.ts'
import { invertFp, squareRootFp } from './fieldRoots.ts'
import { COORDINATE_LENGTH, ELEMENT_BYTES, FIELD_PRIME, PARAMETER } from './limbs.ts'
import { PointGroup } from './pointGroup.ts'

/** Bytes of a compressed point. */
export const G1_LENGTH: number = COORDINATE_LENGTH
/** Bits of |z| below the highest. */
const PARAMETER_BITS = PARAMETER.toString(2).slice(1)
const PARAMETER_SQUARE = PARAMETER * PARAMETER
/**
 * A cube root of one: (x, y) -> (beta x, y) multiplies points of G1 by -z^2, and no other points.
 * @see zkcrypto/bls12_381 g1.rs BETA, is_torsion_free (behaviour)
 */
const BETA = 0x5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffen

const Y = ELEMENT_BYTES
const Z = 2 * ELEMENT_BYTES

/** Whether y is larger than its negative. */
export function isLarger(y: bigint): boolean {
  return 2n * y > FIELD_PRIME
}

export class G1Group extends PointGroup {
  readonly #beta: number

  constructor(engine: Bls12381Engine) {
    super(
      engine,
      {
        double: 'g1Double',
        add: 'g1Add',
        mul: 'fpMul',
        sqr: 'fpSqr',
        plus: 'fpAdd',
        minus: 'fpSub',
        reduce: 'fpReduce',
      },
      1,
    )
    engine.writeNumber(this.b, 4n)
    this.#beta = engine.allocate(ELEMENT_BYTES)
    engine.writeNumber(this.#beta, BETA)
  }

  /** Reads a compressed point. @returns false when it is none of the group */
  read(out: number, bytes: Uint8Array): boolean {
    if (!isSoundEncoding(bytes, G1_LENGTH)) return false
    const flags = bytes[0] as number
    if ((flags & INFINITY) !== 0) {
      this.setInfinity(out)
      return true
    }
    const { engine } = this
    engine.writeBytes(out, encodedCoordinate(bytes, 0))
    const hasRoot = engine.within(() => {
      const right = engine.allocate(ELEMENT_BYTES)
      this.rightSide(right, out)
      return squareRootFp(engine, out + Y, right)
    })
    if (!hasRoot) return false
    this.finishAffine(out)
    if (isLarger(engine.readNumber(out + Y)) !== ((flags & LARGER) !== 0)) this.negate(out, out)
    return this.isInSubgroup(out)
  }

  /** Reads x | y, 48 bytes each, big-endian, below p; not infinity. Whether it is on the curve is not checked. */
  readAffine(out: number, bytes: Uint8Array): void {
    for (let i = 0; i < 2; i++) {
      this.engine.writeBytes(
        out + i * ELEMENT_BYTES,
        bytes.subarray(i * COORDINATE_LENGTH, (i + 1) * COORDINATE_LENGTH),
      )
    }
    this.finishAffine(out)
  }

  /** Compressed. The point is made affine. */
  write(point: number): Uint8Array {
    const bytes = new Uint8Array(G1_LENGTH)
    if (this.isInfinity(point)) {
      bytes[0] = COMPRESSED | INFINITY
      return bytes
    }
    this.toAffine([point])
    bytes.set(bigIntToBytes(this.engine.readNumber(point), COORDINATE_LENGTH))
    const sign = isLarger(this.engine.readNumber(point + Y)) ? LARGER : 0
    bytes[0] = (bytes[0] as number) | COMPRESSED | sign
    return bytes
  }

  /** Of an affine point on the curve: z^2 times it is minus (beta x, y). */
  isInSubgroup(point: number): boolean {
    const { engine, call } = this
    return engine.within(() => {
      const multiple = engine.allocate(this.pointBytes)
      const [zz, left] = [engine.allocate(ELEMENT_BYTES), engine.allocate(ELEMENT_BYTES)]
      this.timesParameter(multiple, point, PARAMETER_BITS)
      this.timesParameter(multiple, multiple, PARAMETER_BITS)
      if (this.isInfinity(multiple)) return false
      call.fpSqr(zz, multiple + Z)
      call.fpMul(left, point, this.#beta)
      call.fpMul(left, left, zz)
      if (!engine.equal(left, multiple, 1)) return false
      call.fpMul(zz, zz, multiple + Z)
      call.fpMul(left, point + Y, zz)
      call.fpSub(left, engine.zero, left)
      return engine.equal(left, multiple + Y, 1)
    })
  }

  /** Makes points affine that are not infinity, by one inversion. */
  toAffine(points: readonly number[]): void {
    const { engine, call } = this
    const open = points.filter((point) => !this.isAffine(point))
    if (open.length === 0) return
    engine.within(() => {
      // products[i] is the product of the first i denominators.
      const products = engine.allocate((open.length + 1) * ELEMENT_BYTES)
      const [inverse, own] = [engine.allocate(ELEMENT_BYTES), engine.allocate(ELEMENT_BYTES)]
      engine.copy(products, engine.one, ELEMENT_BYTES)
      for (const [i, point] of open.entries()) {
        call.fpMul(products + (i + 1) * ELEMENT_BYTES, products + i * ELEMENT_BYTES, point + Z)
      }
      invertFp(engine, inverse, products + open.length * ELEMENT_BYTES)
      for (let i = open.length - 1; i >= 0; i--) {
        const point = open[i] as number
        call.fpMul(own, inverse, products + i * ELEMENT_BYTES)
        call.fpMul(inverse, inverse, point + Z)
        this.scaleToAffine(point, own)
      }
    })
  }

  /**
   * out = sum of points times scalars. Scalars from z^2 on are for points of the group alone: k P = k0 P - k1 (beta x, y)
   * with k = k1 z^2 + k0.
   */
  sum(out: number, points: readonly number[], scalars: readonly bigint[]): void {
    const { engine } = this
    engine.within(() => {
      const bases: number[] = []
      const halves: bigint[] = []
      for (const [i, scalar] of scalars.entries()) {
        const point = points[i] as number
        const [high, low] = [scalar / PARAMETER_SQUARE, scalar % PARAMETER_SQUARE]
        if (low > 0n) {
          bases.push(point)
          halves.push(low)
        }
        if (high > 0n) {
          const turned = engine.allocate(this.pointBytes)
          this.negate(turned, point)
          this.call.fpMul(turned, point, this.#beta)
          bases.push(turned)
          halves.push(high)
        }
      }
      this.sumOf(out, bases, halves)
    })
  }
}
