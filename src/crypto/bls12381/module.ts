/** The whole module: its functions as JavaScript calls them, and the elements that lie at fixed places. */

import { moduleBytes } from '../wasmModule.ts'
import { FIELD_FUNCTIONS } from './fieldCode.ts'
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
  /** product = before (xb - xa). */
  differenceProduct(product: number, before: number, xa: number, xb: number): void
  /** out = a + b, affine; inverse = 1 / before. @param inverse - 1 / (before (xb - xa)) */
  addByInverse(out: number, inverse: number, before: number, xa: number, ya: number, xb: number, yb: number): void
  lineDouble(line: number, point: number): void
  lineAdd(line: number, point: number, affine: number): void
}

/** The module's bytes, and offsets of what must be written before it is used. */
export interface Bls12381Module {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Six factors of the Frobenius map in Fp2. */
  readonly factors: number
  /** Zero, three elements of Fp2. */
  readonly zero: number
  /** First byte that is free. */
  readonly end: number
}

export function bls12381Module(): Bls12381Module {
  const program = new ModuleProgram()
  const zero: Place = program.reserve(SIX)
  const factors = program.reserve(TWELVE)
  for (const one of FIELD_FUNCTIONS) program.add(one)
  addTower(program, zero, factors)
  addPoints(program)
  addLines(program)
  return { bytes: moduleBytes(program.functions), factors: factors.offset, zero: zero.offset, end: program.used }
}
