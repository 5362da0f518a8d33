/**
 * G2 of BLS12-381: points of y^2 = x^3 + 4 (1 + u) over Fp2 of order r, and the lines of Miller's loop through them.
 * @see Scott, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves", section 4
 */
import { bigIntToBytes } from '../../base/bytes.ts'
import { COMPRESSED, encodedCoordinate, INFINITY, isSoundEncoding, LARGER } from './encoding.ts'
import type { Bls12381Engine } from './engine.ts'
import { invertAllFp2, invertFp2, squareRootsFp2, type Two } from './fieldRoots.ts'
import { isLarger } from './g1.ts'
import { COORDINATE_LENGTH, ELEMENT_BYTES, PAIR_BYTES, PARAMETER } from './limbs.ts'
import { HOMOGENEOUS_BYTES, LINE_BYTES } from './lineCode.ts'
import { PointGroup } from './pointGroup.ts'

/** Bytes of a compressed point. */
export const G2_LENGTH: number = 2 * COORDINATE_LENGTH
/** Bits of |z| below the highest: a doubling each, with an addition where it is 1. */
export const PARAMETER_BITS: string = PARAMETER.toString(2).slice(1)
/** Bytes of all lines of a point. */
export const LINES_BYTES: number = LINE_BYTES * (PARAMETER_BITS.length + PARAMETER_BITS.replaceAll('0', '').length)

const Y = PAIR_BYTES
const Z = 2 * PAIR_BYTES

/**
 * Reading, writing and arithmetic of G2, and preparing its points for a pairing. Points are offsets in the engine's memory.
 */
export class G2Group extends PointGroup {
  /** Factors of psi. */
  readonly #psiX: number
  readonly #psiY: number

  constructor(engine: Bls12381Engine) {
    super(
      engine,
      {
        double: 'g2Double',
        add: 'g2Add',
        mul: 'fp2Mul',
        sqr: 'fp2Sqr',
        plus: 'fp2Add',
        minus: 'fp2Sub',
        reduce: 'fp2Reduce',
      },
      2,
    )
    engine.writeNumber(this.b, 4n)
    engine.writeNumber(this.b + ELEMENT_BYTES, 4n)
    this.#psiX = engine.allocate(PAIR_BYTES)
    this.#psiY = engine.allocate(PAIR_BYTES)
    // 1 / (1 + u)^((p-1)/3) and 1 / (1 + u)^((p-1)/2): the Frobenius map between twist and untwisted curve.
    invertFp2(engine, this.#psiX, engine.factorOf(2))
    invertFp2(engine, this.#psiY, engine.factorOf(3))
  }

  /**
   * Reads two compressed points. For one: both the same.
   * @param lines - where theirs go, if they are wanted
   * @returns false for what is no point of the group
   */
  readTwo(outs: Two, points: readonly [Uint8Array, Uint8Array], lines?: Two): [boolean, boolean] {
    const { engine } = this
    const isSound = points.map((bytes) => isSoundEncoding(bytes, G2_LENGTH))
    const isInfinity = points.map((bytes, i) => isSound[i] && ((bytes[0] as number) & INFINITY) !== 0)
    const hasRoot = engine.within(() => {
      const rights: Two = [engine.allocate(PAIR_BYTES), engine.allocate(PAIR_BYTES)]
      for (const [i, bytes] of points.entries()) {
        const [out, right] = [outs[i] as number, rights[i] as number]
        this.setInfinity(out)
        if (isSound[i] && !isInfinity[i]) {
          // In the bytes c1 comes before c0.
          engine.writeBytes(out + ELEMENT_BYTES, encodedCoordinate(bytes, 0))
          engine.writeBytes(out, encodedCoordinate(bytes, 1))
        }
        this.rightSide(right, out)
      }
      return squareRootsFp2(engine, [outs[0] + Y, outs[1] + Y], rights)
    })
    const finish = (i: 0 | 1): boolean => {
      if (!isSound[i]) return false
      const out = outs[i]
      if (isInfinity[i]) {
        this.setInfinity(out)
        return true
      }
      if (!hasRoot[i]) return false
      this.finishAffine(out)
      const isWanted = ((points[i][0] as number) & LARGER) !== 0
      if (this.#isLarger(out) !== isWanted) this.negate(out, out)
      return lines === undefined ? this.isInGroup(out) : this.prepare(lines[i], out)
    }
    const isFirst = finish(0)
    // The second of one is the first again.
    if (points[0] !== points[1] || lines !== undefined) return [isFirst, finish(1)]
    engine.copy(outs[1], outs[0], this.pointBytes)
    return [isFirst, isFirst]
  }

  /** Reads x.c1 | x.c0 | y.c1 | y.c0, 48 bytes each, big-endian, below p; not infinity. Not checked. */
  readAffine(out: number, bytes: Uint8Array): void {
    for (let i = 0; i < 4; i++) {
      const part = bytes.subarray(i * COORDINATE_LENGTH, (i + 1) * COORDINATE_LENGTH)
      this.engine.writeBytes(out + (i ^ 1) * ELEMENT_BYTES, part)
    }
    this.finishAffine(out)
  }

  /** Compressed. The point is made affine. */
  write(point: number): Uint8Array {
    const bytes = new Uint8Array(G2_LENGTH)
    if (this.isInfinity(point)) {
      bytes[0] = COMPRESSED | INFINITY
      return bytes
    }
    this.toAffine(point)
    bytes.set(bigIntToBytes(this.engine.readNumber(point + ELEMENT_BYTES), COORDINATE_LENGTH))
    bytes.set(bigIntToBytes(this.engine.readNumber(point), COORDINATE_LENGTH), COORDINATE_LENGTH)
    bytes[0] = (bytes[0] as number) | COMPRESSED | (this.#isLarger(point) ? LARGER : 0)
    return bytes
  }

  /** Makes points affine that are not infinity. */
  toAffine(...points: readonly number[]): void {
    const { engine } = this
    const open = points.filter((point) => !this.isAffine(point))
    if (open.length === 0) return
    engine.within(() => {
      const inverses = open.map((point) => {
        const inverse = engine.allocate(PAIR_BYTES)
        engine.copy(inverse, point + Z, PAIR_BYTES)
        return inverse
      })
      invertAllFp2(engine, inverses)
      for (const [i, point] of open.entries()) this.scaleToAffine(point, inverses[i] as number)
    })
  }

  /** out = sum of points times scalars. */
  sum(out: number, points: readonly number[], scalars: readonly bigint[]): void {
    this.sumOf(out, points, scalars)
  }

  /**
   * Makes the lines of an affine point on the curve; on the way it is multiplied by |z|.
   * @returns whether the point is in the group: z times it is psi of it
   */
  prepare(lines: number, point: number): boolean {
    const { engine, call } = this
    return engine.within(() => {
      const running = engine.allocate(HOMOGENEOUS_BYTES)
      engine.copy(running, point, HOMOGENEOUS_BYTES)
      let line = lines
      for (const bit of PARAMETER_BITS) {
        call.lineDouble(line, running)
        line += LINE_BYTES
        if (bit === '0') continue
        call.lineAdd(line, running, point)
        line += LINE_BYTES
      }
      if (engine.isZero(running + Z) && engine.isZero(running + Z + ELEMENT_BYTES)) return false
      const image = engine.allocate(PAIR_BYTES)
      call.fp2Conjugate(image, point)
      call.fp2Mul(image, image, this.#psiX)
      call.fp2Mul(image, image, running + Z)
      if (!engine.equal(image, running, 2)) return false
      // z is negative.
      call.fp2Conjugate(image, point + Y)
      call.fp2Mul(image, image, this.#psiY)
      call.fp2Mul(image, image, running + Z)
      call.fp2Negate(image, image)
      return engine.equal(image, running + Y, 2)
    })
  }

  /** Whether an affine point on the curve is in the group, as {@link prepare} finds out, for half the work. */
  isInGroup(point: number): boolean {
    const { engine, call } = this
    return engine.within(() => {
      const [multiple, image] = [engine.allocate(this.pointBytes), engine.allocate(this.pointBytes)]
      const power = engine.allocate(PAIR_BYTES)
      this.timesParameter(multiple, point)
      if (this.isInfinity(multiple)) return false
      this.psi(image, point)
      call.fp2Sqr(power, multiple + Z)
      call.fp2Mul(image, image, power)
      if (!engine.equal(image, multiple, 2)) return false
      call.fp2Mul(power, power, multiple + Z)
      call.fp2Mul(image + Y, image + Y, power)
      return engine.equal(image + Y, multiple + Y, 2)
    })
  }

  /** out = z P: z is negative. */
  timesParameter(out: number, point: number): void {
    const { engine } = this
    engine.within(() => {
      const [running, sum] = [engine.allocate(this.pointBytes), engine.allocate(this.pointBytes)]
      engine.copy(running, point, this.pointBytes)
      for (const bit of PARAMETER_BITS) {
        this.double(running, running)
        if (bit === '0') continue
        this.add(sum, running, point)
        engine.copy(running, sum, this.pointBytes)
      }
      this.negate(out, running)
    })
  }

  /** out = psi(point): the Frobenius map brought to the twist; out is not the point. */
  psi(out: number, point: number): void {
    const { call } = this
    call.fp2Conjugate(out, point)
    call.fp2Mul(out, out, this.#psiX)
    call.fp2Conjugate(out + Y, point + Y)
    call.fp2Mul(out + Y, out + Y, this.#psiY)
    call.fp2Conjugate(out + Z, point + Z)
  }

  #isLarger(point: number): boolean {
    const imaginary = this.engine.readNumber(point + Y + ELEMENT_BYTES)
    return isLarger(imaginary === 0n ? this.engine.readNumber(point + Y) : imaginary)
  }
}
