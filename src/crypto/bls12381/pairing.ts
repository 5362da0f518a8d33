/**
 * The optimal ate pairing and its target group. The final exponent is three times (p^12 - 1) / r, as blst and others have it.
 * @see Vercauteren, "Optimal pairings"; Hayashida, Hayasaka, Teruya, "Efficient final exponentiation via cyclotomic
 *   structure for pairings over families of elliptic curves" (eprint 2020/875); zkcrypto/bls12_381 pairings.rs (behaviour)
 */
import type { Bls12381Engine } from './engine.ts'
import { invertFp2 } from './fieldRoots.ts'
import { PARAMETER_BITS } from './g2.ts'
import { PAIR_BYTES } from './limbs.ts'
import { LINE_BYTES } from './lineCode.ts'
import { TWELVE_BYTES } from './towerCode.ts'

const SIX_BYTES = TWELVE_BYTES / 2

/** An affine point of G1 and the lines of one of G2, by their offsets. */
export type PreparedPair = readonly [point: number, lines: number]

/** Pairings, and arithmetic of Fp12, whose elements are offsets in the engine's memory. */
export class TargetGroup {
  readonly #engine: Bls12381Engine

  constructor(engine: Bls12381Engine) {
    this.#engine = engine
  }

  setOne(out: number): void {
    this.#engine.copy(out, this.#engine.one, TWELVE_BYTES)
  }

  /** out = product of Miller's loops, whose squares are shared. None gives one. */
  millerLoop(out: number, pairs: readonly PreparedPair[]): void {
    const { call } = this.#engine
    this.setOne(out)
    let offset = 0
    for (const [i, bit] of [...PARAMETER_BITS].entries()) {
      if (i > 0) call.fp12Sqr(out, out)
      for (const [point, lines] of pairs) call.fp12MulLine(out, lines + offset, point)
      offset += LINE_BYTES
      if (bit === '0') continue
      for (const [point, lines] of pairs) call.fp12MulLine(out, lines + offset, point)
      offset += LINE_BYTES
    }
    // z is negative.
    call.fp12Conjugate(out, out)
  }

  /** value = value to the power of 3 (p^12 - 1) / r. */
  finalExponentiation(value: number): void {
    const engine = this.#engine
    const { call } = engine
    engine.within(() => {
      const [f, a, b, t] = Array.from({ length: 4 }, () => engine.allocate(TWELVE_BYTES)) as [
        ...[number, number, number, number],
      ]
      // (p^6 - 1)(p^2 + 1).
      this.invert(a, value)
      call.fp12Conjugate(f, value)
      call.fp12Mul(f, f, a)
      this.#frobenius(a, f, 2)
      call.fp12Mul(f, f, a)
      // (z - 1)^2 (z + p) (z^2 + p^2 - 1) + 3.
      this.#powerLessOne(a, f)
      this.#powerLessOne(b, a)
      this.powerParameter(a, b)
      call.fp12Frobenius(t, b)
      call.fp12Mul(a, a, t)
      this.powerParameter(b, a)
      this.powerParameter(b, b)
      this.#frobenius(t, a, 2)
      call.fp12Mul(b, b, t)
      call.fp12Conjugate(a, a)
      call.fp12Mul(b, b, a)
      call.fp12CyclotomicSqr(t, f)
      call.fp12Mul(t, t, f)
      call.fp12Mul(value, b, t)
    })
  }

  /** out = a^z, a in the cyclotomic subgroup. */
  powerParameter(out: number, a: number): void {
    const engine = this.#engine
    const { call } = engine
    engine.within(() => {
      const power = engine.allocate(TWELVE_BYTES)
      engine.copy(power, a, TWELVE_BYTES)
      for (const bit of PARAMETER_BITS) {
        call.fp12CyclotomicSqr(power, power)
        if (bit === '1') call.fp12Mul(power, power, a)
      }
      call.fp12Conjugate(out, power)
    })
  }

  /** Whether the value is of order r. @see Scott, section 5: in the cyclotomic subgroup, and x^p = x^z */
  isInGroup(value: number): boolean {
    const engine = this.#engine
    const { call } = engine
    return engine.within(() => {
      const [second, other] = [engine.allocate(TWELVE_BYTES), engine.allocate(TWELVE_BYTES)]
      this.#frobenius(second, value, 2)
      this.#frobenius(other, second, 2)
      call.fp12Mul(other, other, value)
      if (!engine.equal(other, second, 12)) return false
      call.fp12Frobenius(other, value)
      this.powerParameter(second, value)
      return engine.equal(other, second, 12)
    })
  }

  /** out = 1 / a, a not zero: (a0 - a1 w) / (a0^2 - v a1^2). */
  invert(out: number, a: number): void {
    const engine = this.#engine
    const { call } = engine
    engine.within(() => {
      const [norm, square, result] = [SIX_BYTES, SIX_BYTES, TWELVE_BYTES].map((bytes) => engine.allocate(bytes)) as [
        ...[number, number, number],
      ]
      const upper = a + SIX_BYTES
      call.fp6Mul(norm, a, a)
      call.fp6Mul(square, upper, upper)
      const last = engine.allocate(PAIR_BYTES)
      call.fp2Xi(last, square + 2 * PAIR_BYTES)
      for (let i = 0; i < 3; i++) {
        const from = i === 0 ? last : square + (i - 1) * PAIR_BYTES
        call.fp2Sub(norm + i * PAIR_BYTES, norm + i * PAIR_BYTES, from)
        call.fp2Reduce(norm + i * PAIR_BYTES, norm + i * PAIR_BYTES)
      }
      this.#invertSix(norm)
      call.fp6Mul(result, a, norm)
      call.fp6Mul(result + SIX_BYTES, upper, norm)
      for (let i = 0; i < 6; i++) {
        const part = result + i * PAIR_BYTES
        if (i >= 3) call.fp2Negate(part, part)
        call.fp2Reduce(out + i * PAIR_BYTES, part)
      }
    })
  }

  #frobenius(out: number, a: number, times: number): void {
    const { call } = this.#engine
    call.fp12Frobenius(out, a)
    for (let i = 1; i < times; i++) call.fp12Frobenius(out, out)
  }

  /** out = a^(z-1). */
  #powerLessOne(out: number, a: number): void {
    const engine = this.#engine
    engine.within(() => {
      const conjugate = engine.allocate(TWELVE_BYTES)
      engine.call.fp12Conjugate(conjugate, a)
      this.powerParameter(out, a)
      engine.call.fp12Mul(out, out, conjugate)
    })
  }

  /** a = 1 / a in Fp6, reduced. */
  #invertSix(a: number): void {
    const engine = this.#engine
    const { call } = engine
    engine.within(() => {
      const [c0, c1, c2, t, norm] = Array.from({ length: 5 }, () => engine.allocate(PAIR_BYTES)) as [
        ...[number, number, number, number, number],
      ]
      const [a0, a1, a2] = [a, a + PAIR_BYTES, a + 2 * PAIR_BYTES]
      // c0 = a0^2 - xi a1 a2, c1 = xi a2^2 - a0 a1, c2 = a1^2 - a0 a2.
      call.fp2Mul(t, a1, a2)
      call.fp2Xi(t, t)
      call.fp2Sqr(c0, a0)
      call.fp2Sub(c0, c0, t)
      call.fp2Sqr(c1, a2)
      call.fp2Xi(c1, c1)
      call.fp2Mul(t, a0, a1)
      call.fp2Sub(c1, c1, t)
      call.fp2Sqr(c2, a1)
      call.fp2Mul(t, a0, a2)
      call.fp2Sub(c2, c2, t)
      // a0 c0 + xi (a2 c1 + a1 c2).
      call.fp2Mul(norm, a2, c1)
      call.fp2Mul(t, a1, c2)
      call.fp2Add(norm, norm, t)
      call.fp2Xi(norm, norm)
      call.fp2Mul(t, a0, c0)
      call.fp2Add(norm, norm, t)
      call.fp2Reduce(norm, norm)
      invertFp2(engine, norm, norm)
      call.fp2Mul(a0, c0, norm)
      call.fp2Mul(a1, c1, norm)
      call.fp2Mul(a2, c2, norm)
    })
  }
}
