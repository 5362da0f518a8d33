/**
 * G1 of BLS12-381: points of y^2 = x^3 + 4 over Fp of order r.
 * @see Scott, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves", section 6
 */
import { bigIntToBytes } from '../../base/bytes.ts'
import { COMPRESSED, encodedCoordinate, INFINITY, isSoundEncoding, LARGER } from './encoding.ts'
import type { Bls12381Engine } from './engine.ts'
import { invertFp, squareRootsFp } from './fieldRoots.ts'
import { COORDINATE_LENGTH, ELEMENT_BYTES, FIELD_PRIME, PAIR_BYTES, PARAMETER } from './limbs.ts'
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

/** So many odd digits from -15 to 15 in base 16, lowest first. */
function oddDigits(scalar: bigint, count: number): number[] {
  let rest = scalar
  return Array.from({ length: count }, (_, i) => {
    const digit = i === count - 1 ? Number(rest) : Number(rest & 31n) - 16
    rest = (rest - BigInt(digit)) >> 4n
    return digit
  })
}

/** Reading, writing and arithmetic of G1. Points are offsets in the engine's memory, Jacobian unless it is said. */
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
    return this.readMany([out], [bytes])[0] as boolean
  }

  /** Reads compressed points, two at a time. @returns false for what is no point of the group */
  readMany(outs: readonly number[], points: readonly Uint8Array[]): boolean[] {
    const results = points.map((bytes) => isSoundEncoding(bytes, G1_LENGTH))
    const open: number[] = []
    for (const [i, bytes] of points.entries()) {
      if (!results[i]) continue
      const out = outs[i] as number
      if (((bytes[0] as number) & INFINITY) !== 0) {
        this.setInfinity(out)
        continue
      }
      this.engine.writeBytes(out, encodedCoordinate(bytes, 0))
      open.push(i)
    }
    for (let at = 0; at < open.length; at += 2) {
      // The last one of an odd number is both.
      const two = [open[at], open[at + 1] ?? open[at]] as [number, number]
      const [first, second] = two.map((i) => outs[i]) as [number, number]
      const hasRoot = this.#findY(first, second)
      for (const [lane, i] of two.entries()) {
        const out = outs[i] as number
        if (!hasRoot[lane] || at + lane === open.length) continue
        this.finishAffine(out)
        const wanted = ((points[i] as Uint8Array)[0] as number) & LARGER
        if (isLarger(this.engine.readNumber(out + Y)) !== (wanted !== 0)) this.negate(out, out)
      }
      const isInside = hasRoot[0] || hasRoot[1] ? this.#areInSubgroup(first, second) : [false, false]
      for (const [lane, i] of two.entries()) results[i] = (hasRoot[lane] && isInside[lane]) as boolean
    }
    return results
  }

  /** Finds y of two points of which x is there. @returns whether there is one */
  #findY(first: number, second: number): [boolean, boolean] {
    const { engine, call } = this
    return engine.within(() => {
      const [x, right, root] = [0, 1, 2].map(() => engine.allocate(PAIR_BYTES)) as [number, number, number]
      this.#gather(x, first, second)
      call.pairSqr(right, x)
      call.pairMul(right, right, x)
      call.fpAdd(right, right, this.b)
      call.fpAdd(right + ELEMENT_BYTES, right + ELEMENT_BYTES, this.b)
      call.fp2Reduce(right, right)
      const found = squareRootsFp(engine, root, right)
      engine.copy(first + Y, root, ELEMENT_BYTES)
      engine.copy(second + Y, root + ELEMENT_BYTES, ELEMENT_BYTES)
      return found
    })
  }

  #gather(out: number, first: number, second: number): void {
    this.engine.copy(out, first, ELEMENT_BYTES)
    this.engine.copy(out + ELEMENT_BYTES, second, ELEMENT_BYTES)
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

  /** Of an affine point on the curve: whether it is in the group. */
  isInSubgroup(point: number): boolean {
    return this.#areInSubgroup(point, point)[0]
  }

  /** Of two affine points: whether z^2 times each is minus (beta x, y). What is not on the curve is not in the group. */
  #areInSubgroup(first: number, second: number): [boolean, boolean] {
    const { engine, call } = this
    return engine.within(() => {
      const [points, multiple] = [engine.allocate(3 * PAIR_BYTES), engine.allocate(3 * PAIR_BYTES)]
      const [zz, left] = [engine.allocate(PAIR_BYTES), engine.allocate(PAIR_BYTES)]
      for (let i = 0; i < 3; i++) {
        this.#gather(points + i * PAIR_BYTES, first + i * ELEMENT_BYTES, second + i * ELEMENT_BYTES)
      }
      this.#timesParameter(multiple, points)
      this.#timesParameter(multiple, multiple)
      const z = multiple + 2 * PAIR_BYTES
      call.pairSqr(zz, z)
      call.fp2MulFp(left, points, this.#beta)
      call.pairMul(left, left, zz)
      const isSame = (a: number, b: number): [boolean, boolean] => [
        engine.equal(a, b, 1),
        engine.equal(a + ELEMENT_BYTES, b + ELEMENT_BYTES, 1),
      ]
      const x = isSame(left, multiple)
      call.pairMul(zz, zz, z)
      call.pairMul(left, points + PAIR_BYTES, zz)
      call.fp2Negate(left, left)
      const y = isSame(left, multiple + PAIR_BYTES)
      const isSet = (lane: number): boolean => !engine.isZero(z + lane * ELEMENT_BYTES)
      return [x[0] && y[0] && isSet(0), x[1] && y[1] && isSet(1)]
    })
  }

  /** out = two points times |z|, by bits: points of unknown order, or Z = 0 where a formula does not hold. */
  #timesParameter(out: number, points: number): void {
    const { engine, call } = this
    engine.within(() => {
      const sum = engine.allocate(3 * PAIR_BYTES)
      engine.copy(sum, points, 3 * PAIR_BYTES)
      for (const bit of PARAMETER_BITS) {
        call.pairDouble(sum, sum)
        if (bit === '1') call.pairAdd(sum, sum, points)
      }
      engine.copy(out, sum, 3 * PAIR_BYTES)
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
   * outs = points of the group, each times its scalar, two at a time: by digits of which none is zero, so that both lanes do
   * the same.
   * @param scalars - odd, below 2^(4 digits)
   */
  multiplyMany(outs: readonly number[], points: readonly number[], scalars: readonly bigint[], digits: number): void {
    for (let at = 0; at < points.length; at += 2) {
      const two = [at, Math.min(at + 1, points.length - 1)] as const
      this.engine.within(() => {
        const sum = this.#multiplyTwo(
          two.map((i) => points[i] as number),
          two.map((i) => oddDigits(scalars[i] as bigint, digits)),
        )
        for (const [lane, i] of two.entries()) this.#copyLane(outs[i] as number, sum, lane)
      })
    }
  }

  #multiplyTwo(points: readonly number[], digits: readonly (readonly number[])[]): number {
    const { engine, call } = this
    const bytes = 3 * PAIR_BYTES
    const [first, second] = points as [number, number]
    // Odd multiples up to 15.
    const [table, double] = [engine.allocate(8 * bytes), engine.allocate(bytes)]
    const [sum, other, next] = [engine.allocate(bytes), engine.allocate(bytes), engine.allocate(bytes)]
    for (let i = 0; i < 3; i++)
      this.#gather(table + i * PAIR_BYTES, first + i * ELEMENT_BYTES, second + i * ELEMENT_BYTES)
    call.pairDouble(double, table)
    for (let k = 1; k < 8; k++) call.pairAdd(table + k * bytes, table + (k - 1) * bytes, double)
    const choose = (out: number, at: number): void => {
      for (const [lane, own] of digits.entries()) {
        const digit = own[at] as number
        const from = table + ((Math.abs(digit) - 1) / 2) * bytes + lane * ELEMENT_BYTES
        const to = out + lane * ELEMENT_BYTES
        for (let i = 0; i < 3; i++) engine.copy(to + i * PAIR_BYTES, from + i * PAIR_BYTES, ELEMENT_BYTES)
        if (digit < 0) call.fpSub(to + PAIR_BYTES, engine.zero, to + PAIR_BYTES)
      }
    }
    const count = digits[0]?.length ?? 0
    choose(sum, count - 1)
    for (let at = count - 2; at >= 0; at--) {
      for (let i = 0; i < 4; i++) call.pairDouble(sum, sum)
      choose(other, at)
      call.pairAdd(next, sum, other)
      engine.copy(sum, next, bytes)
    }
    return sum
  }

  #copyLane(out: number, pair: number, lane: number): void {
    for (let i = 0; i < 3; i++) {
      this.engine.copy(out + i * ELEMENT_BYTES, pair + i * PAIR_BYTES + lane * ELEMENT_BYTES, ELEMENT_BYTES)
    }
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
