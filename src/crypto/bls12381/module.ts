/** The whole module: its functions as JavaScript calls them, and the elements that lie at fixed places. */

import { moduleBytes } from '../wasmModule.ts'
import { Constants, floatField } from './floatFieldCode.ts'
import { INTEGER_FIELD } from './integerFieldCode.ts'
import { FLOAT_LIMBS, type LimbForm } from './limbs.ts'
import { addLines } from './lineCode.ts'
import { addPoints } from './pointCode.ts'
import { ModuleProgram, type Place } from './program.ts'
import { addTower, SIX, TWELVE } from './towerCode.ts'

type Unary = (out: number, a: number) => void
type Binary = (out: number, a: number, b: number) => void

/** Offsets in memory are in bytes; out may be one of the others, except where it is said. */
export interface Bls12381Functions {
  fpMul: Binary
  fpSqr: Unary
  fpAdd: Binary
  fpSub: Binary
  fpReduce: Unary
  fpSqrTimes(out: number, a: number, count: number): void
  fp2Mul: Binary
  fp2Sqr: Unary
  fp2Add: Binary
  fp2Sub: Binary
  fp2Reduce: Unary
  fp2Xi: Unary
  fp2MulFp: Binary
  /** Of two elements behind each other, each for itself. */
  pairMul: Binary
  pairSqr: Unary
  pairSqrTimes(out: number, a: number, count: number): void
  fp2Negate: Unary
  fp2Conjugate: Unary
  /** out is neither a nor b. */
  fp6Mul: Binary
  fp12Mul: Binary
  fp12Sqr: Unary
  fp12CyclotomicSqr: Unary
  fp12Conjugate: Unary
  fp12Frobenius: Unary
  /** a *= line at an affine point. */
  fp12MulLine(a: number, line: number, point: number): void
  g1Double: Unary
  g1Add: Binary
  g2Double: Unary
  g2Add: Binary
  /** 1 when done, 0 when the x of both are equal. */
  extendedAddAffine(sum: number, x: number, y: number): number
  extendedAdd(sum: number, other: number): number
  extendedDouble(point: number): void
  /** Two points of G1 at once: X, Y and Z are pairs. */
  pairDouble: Unary
  pairAdd: Binary
  /** product = before (xb - xa), of pairs. */
  differenceProduct(
    product: number,
    before: number,
    ...x: readonly [a: number, a2: number, b: number, b2: number]
  ): void
  /**
   * out = a + b, affine, twice; inverse (a pair) = 1 / before.
   * @param inverse - 1 / (before (xb - xa))
   */
  addByInverse(
    out: number,
    out2: number,
    inverse: number,
    before: number,
    ...points: readonly [
      ...[xa: number, xa2: number, ya: number, ya2: number],
      ...[xb: number, xb2: number, yb: number, yb2: number],
    ]
  ): void
  lineDouble(line: number, point: number): void
  lineAdd(line: number, point: number, affine: number): void
}

/** The module's bytes, and what must be written before it is used. */
export interface Bls12381Module {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Offset of six factors of the Frobenius map in Fp2. */
  readonly factors: number
  /** Offset of zero, three elements of Fp2. */
  readonly zero: number
  /** Offset of the field's constants, and what they are. */
  readonly constants: number
  readonly constantWords: Int32Array
  /** First byte that is free. */
  readonly end: number
}

/** Room for the constants, elements of Fp2. */
const CONSTANT_PAIRS = 16

/** Writes the module for one form of field elements; it is not compiled here. */
export function bls12381Module(form: LimbForm): Bls12381Module {
  const program = new ModuleProgram()
  const zero: Place = program.reserve(SIX)
  const factors = program.reserve(TWELVE)
  const constants = program.reserve(CONSTANT_PAIRS)
  const written = new Constants(constants.offset)
  for (const step of form === FLOAT_LIMBS ? floatField(written) : INTEGER_FIELD) program.add(step)
  addTower(program, zero, factors)
  addPoints(program, zero, form)
  addLines(program)
  return {
    bytes: moduleBytes(program.functions),
    factors: factors.offset,
    zero: zero.offset,
    constants: constants.offset,
    constantWords: written.words(),
    end: program.used,
  }
}
