/** Inverses and square roots in Fp and Fp2. */
import type { Bls12381Engine } from './engine.ts'
import { ELEMENT_BYTES, FIELD_PRIME, PAIR_BYTES } from './limbs.ts'

/** Bits of a window of an exponent. */
const WINDOW = 5
/** p is 3 modulo 4. */
const ROOT_EXPONENT = (FIELD_PRIME - 3n) / 4n

/** Steps of a power: square so many times, then multiply by an odd power (0: by none). */
type Chain = readonly (readonly [squarings: number, odd: number])[]

/** Windows from the top that begin and end with a one. */
function chainOf(exponent: bigint): Chain {
  const bits = exponent.toString(2)
  const steps: [number, number][] = []
  let squarings = 0
  for (let at = 0; at < bits.length; ) {
    if (bits[at] === '0') {
      squarings++
      at++
      continue
    }
    const window = bits.slice(at, at + WINDOW).replace(/0+$/, '')
    steps.push([squarings + window.length, Number.parseInt(window, 2)])
    squarings = 0
    at += window.length
  }
  if (squarings > 0) steps.push([squarings, 0])
  return steps
}

const ROOT_CHAIN = chainOf(ROOT_EXPONENT)

/** What a power is made of. */
interface Powers {
  readonly bytes: number
  readonly mul: 'fpMul' | 'pairMul'
  readonly sqr: 'fpSqr' | 'pairSqr'
  readonly sqrTimes: 'fpSqrTimes' | 'pairSqrTimes'
}

const ONE: Powers = { bytes: ELEMENT_BYTES, mul: 'fpMul', sqr: 'fpSqr', sqrTimes: 'fpSqrTimes' }
const PAIR: Powers = { bytes: PAIR_BYTES, mul: 'pairMul', sqr: 'pairSqr', sqrTimes: 'pairSqrTimes' }

/** out = a to the power of (p - 3) / 4; out is not a. */
function rootPower(engine: Bls12381Engine, out: number, a: number, { bytes, mul, sqr, sqrTimes }: Powers): void {
  const { call } = engine
  engine.within(() => {
    const odd = engine.allocate(bytes << (WINDOW - 1))
    const square = engine.allocate(bytes)
    engine.copy(odd, a, bytes)
    call[sqr](square, a)
    for (let k = 1; k < 1 << (WINDOW - 1); k++) call[mul](odd + k * bytes, odd + (k - 1) * bytes, square)
    for (const [i, [squarings, factor]] of ROOT_CHAIN.entries()) {
      const from = odd + ((factor - 1) / 2) * bytes
      if (i === 0) engine.copy(out, from, bytes)
      else call[sqrTimes](out, out, squarings)
      if (i > 0 && factor > 0) call[mul](out, out, from)
    }
  })
}

/** out = 1/a, a not zero. */
export function invertFp(engine: Bls12381Engine, out: number, a: number): void {
  engine.within(() => {
    // a^(p-2) = (a^((p-3)/4))^4 a.
    const root = engine.allocate(ELEMENT_BYTES)
    rootPower(engine, root, a, ONE)
    engine.call.fpSqrTimes(root, root, 2)
    engine.call.fpMul(out, root, a)
  })
}

/** out = 1/a, a not zero: conjugate over norm. */
export function invertFp2(engine: Bls12381Engine, out: number, a: number): void {
  const { call } = engine
  engine.within(() => {
    const norm = engine.allocate(ELEMENT_BYTES)
    const conjugate = engine.allocate(PAIR_BYTES)
    normOf(engine, norm, a)
    invertFp(engine, norm, norm)
    call.fp2Conjugate(conjugate, a)
    call.fp2MulFp(out, conjugate, norm)
  })
}

/** Each of some elements of Fp2 = 1 / itself, none zero, by one inversion: of the product of all. */
export function invertAllFp2(engine: Bls12381Engine, places: readonly number[]): void {
  const { call } = engine
  engine.within(() => {
    // One more than there are: each is the product of the places before it.
    const products = engine.allocate((places.length + 1) * PAIR_BYTES)
    const [inverse, own] = [engine.allocate(PAIR_BYTES), engine.allocate(PAIR_BYTES)]
    engine.copy(products, engine.one, PAIR_BYTES)
    for (const [i, place] of places.entries()) {
      const before = products + i * PAIR_BYTES
      call.fp2Mul(before + PAIR_BYTES, before, place)
    }
    invertFp2(engine, inverse, products + places.length * PAIR_BYTES)
    for (let i = places.length - 1; i >= 0; i--) {
      const place = places[i] as number
      call.fp2Mul(own, inverse, products + i * PAIR_BYTES)
      call.fp2Mul(inverse, inverse, place)
      engine.copy(place, own, PAIR_BYTES)
    }
  })
}

/** out = a0^2 + a1^2. */
export function normOf(engine: Bls12381Engine, out: number, a: number): void {
  const { call } = engine
  engine.within(() => {
    const square = engine.allocate(ELEMENT_BYTES)
    call.fpSqr(square, a + ELEMENT_BYTES)
    call.fpSqr(out, a)
    call.fpAdd(out, out, square)
    call.fpReduce(out, out)
  })
}

/** out = square roots of two elements behind each other, reduced; out is not a. @returns whether each has one */
export function squareRootsFp(engine: Bls12381Engine, out: number, a: number): [boolean, boolean] {
  const { call } = engine
  return engine.within(() => {
    const check = engine.allocate(PAIR_BYTES)
    rootPower(engine, out, a, PAIR)
    call.pairMul(out, out, a)
    call.pairSqr(check, out)
    return [engine.equal(check, a, 1), engine.equal(check + ELEMENT_BYTES, a + ELEMENT_BYTES, 1)]
  })
}

/** Two numbers: an element each. */
export type Two = readonly [number, number]

/**
 * outs = square roots of two elements of Fp2, which are reduced; no out is one of them. Both at once: the powers that it
 * takes cost as much for one.
 *
 * With n the root of the norm and d = (a0 + n) / 2, t = d^((p-3)/4), x = t d: if d is a square, x^2 = d, t = 1/x and the
 * root is x + a1/(2x) u. If not, x^2 = -d, t = -1/x and -d is the square of the root's imaginary part.
 * @returns whether each has one
 * @see Adj, Rodríguez-Henríquez, "Square root computation over even extension fields", section 4 (complex method)
 */
export function squareRootsFp2(engine: Bls12381Engine, outs: Two, elements: Two): [boolean, boolean] {
  return engine.within(() => {
    const [norms, roots] = [engine.allocate(PAIR_BYTES), engine.allocate(PAIR_BYTES)]
    for (const [i, a] of elements.entries()) normOf(engine, norms + i * ELEMENT_BYTES, a)
    const hasNorm = squareRootsFp(engine, roots, norms)
    const isRoot = squareRootsByNorm(engine, outs, elements, roots)
    return [hasNorm[0] && isRoot[0], hasNorm[1] && isRoot[1]]
  })
}

/**
 * {@link squareRootsFp2} of elements whose norms' roots are known.
 * @param roots - a pair, reduced
 * @returns whether each out is a root
 */
export function squareRootsByNorm(engine: Bls12381Engine, outs: Two, elements: Two, roots: number): [boolean, boolean] {
  const { call } = engine
  return engine.within(() => {
    const [ds, ts, x, check] = Array.from({ length: 4 }, () => engine.allocate(PAIR_BYTES)) as [
      ...[number, number, number, number],
    ]
    for (const [i, a] of elements.entries()) {
      const [d, root] = [ds + i * ELEMENT_BYTES, roots + i * ELEMENT_BYTES]
      call.fpAdd(d, a, root)
      call.fpReduce(d, d)
      // a is real and no square in Fp, or zero: d = a0 then.
      if (engine.equal(d, engine.zero, 1)) call.fpSub(d, a, root)
      halve(engine, d)
    }
    rootPower(engine, ts, ds, PAIR)
    const finish = (i: 0 | 1): boolean => {
      const [a, out, d, t] = [elements[i], outs[i], ds + i * ELEMENT_BYTES, ts + i * ELEMENT_BYTES]
      const [real, imaginary] = [out, out + ELEMENT_BYTES]
      call.fpMul(x, t, d)
      call.fpMul(t, t, a + ELEMENT_BYTES)
      halve(engine, t)
      call.fpSqr(check, x)
      if (engine.equal(check, d, 1)) {
        engine.copy(real, x, ELEMENT_BYTES)
        engine.copy(imaginary, t, ELEMENT_BYTES)
      } else {
        engine.copy(real, t, ELEMENT_BYTES)
        call.fpSub(imaginary, engine.zero, x)
      }
      call.fp2Sqr(check, out)
      return engine.equal(check, a, 2)
    }
    return [finish(0), finish(1)]
  })
}

/** a = a / 2. */
function halve(engine: Bls12381Engine, a: number): void {
  engine.call.fpMul(a, a, engine.half)
}
