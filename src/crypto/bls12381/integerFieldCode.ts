/**
 * Arithmetic in Fp and Fp2 = Fp[u]/(u^2 + 1), written instruction by instruction; with limbs
 * of 28 bits, in integers: for machines that have no fused multiply-add on vectors.
 *
 * Limbs of 28 bits because sums of some 500 products of them fit in 64 bits: no carry is handled inside a multiplication,
 * and columns of several products are added before one reduction. Products of 14 limbs are made of three of 7 (Karatsuba).
 * Columns are sums modulo 2^64; only the last ones must fit. Measured in Node 24 at 2.5 GHz: multiplication in Fp
 * 0.136 µs, in Fp2 0.373 µs, mcl-wasm's (12 limbs of 32 bits) 0.35 µs in Fp. Vectors of two 64-bit products were no
 * faster: V8 shuffles both operands before each.
 * @see Karatsuba, Ofman 1962; Montgomery, "Modular multiplication without trial division"; Aranha et al., "Faster explicit
 *   formulas for computing pairings over ordinary curves" (reduction after the sum)
 */

import { at, body, type Code, get, i64, op, set, tee, vector, type WasmFunction } from '../wasmModule.ts'
import { ELEMENT_BYTES, FIELD_PRIME, INTEGER_LIMBS, PAIR_BYTES, toLimbs } from './limbs.ts'
import { repeated, timesXi, vectorSum } from './vectorCode.ts'

const { count: LIMBS, bits: LIMB_BITS } = INTEGER_LIMBS
/** Columns of a product. */
const COLUMNS = 2 * LIMBS - 1
const HALF_LIMBS = LIMBS / 2
const HALF = 2 ** (LIMB_BITS - 1)
const PRIME_LIMBS = toLimbs(FIELD_PRIME, INTEGER_LIMBS)
/** Parameters: out, a, b. */
const [OUT, A, B] = [0, 1, 2] as const

/** -1/p modulo 2^28, signed. */
function negativeInverse(): number {
  let inverse = 1n
  // Newton: every step doubles the number of right bits.
  for (let i = 0; i < 5; i++) inverse = BigInt.asUintN(LIMB_BITS, inverse * (2n - FIELD_PRIME * inverse))
  return Number(BigInt.asIntN(LIMB_BITS, -inverse))
}

/** A term of a sum: its instructions, and how it joins the terms before. */
type Term = readonly [typeof op.i64Add | typeof op.i64Sub, Code]

/** Locals of 64 bits and the code so far. */
class Writer {
  readonly #code: number[] = []
  readonly #parameters: number
  #next: number

  constructor(parameters: number) {
    this.#parameters = parameters
    this.#next = parameters
  }

  local(): number {
    return this.#next++
  }

  emit(...parts: readonly Code[]): void {
    for (const part of parts) for (const byte of part) this.#code.push(byte)
  }

  /** Locals, each with the value that its code leaves. */
  locals(codes: readonly Code[]): number[] {
    return codes.map((code) => {
      const local = this.local()
      this.emit(code, set(local))
      return local
    })
  }

  load(pointer: number, offset: number): number[] {
    const limbs = Array.from({ length: LIMBS }, (_, i) => [...get(pointer), op.i64Load32S, ...at(offset + 4 * i)])
    return this.locals(limbs)
  }

  /** a + b or a - b, limb by limb. */
  join(a: readonly number[], b: readonly number[], how: number): number[] {
    return this.locals(a.map((limb, i) => [...get(limb), ...get(b[i] as number), how]))
  }

  sum(terms: readonly Term[]): number[] {
    return terms.flatMap(([how, code], i) => (i === 0 ? [...code] : [...code, how]))
  }

  /** Columns of a product, plainly. */
  #plainProduct(a: readonly number[], b: readonly number[]): number[] {
    const n = a.length
    return this.locals(
      Array.from({ length: 2 * n - 1 }, (_, k) => {
        const terms: Term[] = []
        for (let i = Math.max(0, k - n + 1); i <= Math.min(k, n - 1); i++) {
          terms.push([op.i64Add, [...get(a[i] as number), ...get(b[k - i] as number), op.i64Mul]])
        }
        return this.sum(terms)
      }),
    )
  }

  /** Columns of a product of 14 limbs. */
  product(a: readonly number[], b: readonly number[]): number[] {
    const [aLow, aHigh, bLow, bHigh] = [
      a.slice(0, HALF_LIMBS),
      a.slice(HALF_LIMBS),
      b.slice(0, HALF_LIMBS),
      b.slice(HALF_LIMBS),
    ]
    const low = this.#plainProduct(aLow, bLow)
    const high = this.#plainProduct(aHigh, bHigh)
    const mixed = this.#plainProduct(this.join(aLow, aHigh, op.i64Add), this.join(bLow, bHigh, op.i64Add))
    return this.locals(
      Array.from({ length: COLUMNS }, (_, k) => {
        const [middle, top] = [k - HALF_LIMBS, k - 2 * HALF_LIMBS]
        const terms: Term[] = []
        if (k < low.length) terms.push([op.i64Add, get(low[k] as number)])
        if (top >= 0) terms.push([op.i64Add, get(high[top] as number)])
        if (middle >= 0 && middle < mixed.length) {
          terms.push([op.i64Add, get(mixed[middle] as number)])
          terms.push([op.i64Sub, get(low[middle] as number)], [op.i64Sub, get(high[middle] as number)])
        }
        return this.sum(terms)
      }),
    )
  }

  square(a: readonly number[]): number[] {
    const double = this.join(a, a, op.i64Add)
    return this.locals(
      Array.from({ length: COLUMNS }, (_, k) => {
        const terms: Term[] = []
        for (let i = Math.max(0, k - LIMBS + 1); 2 * i <= k; i++) {
          const left = 2 * i === k ? a[i] : double[i]
          terms.push([op.i64Add, [...get(left as number), ...get(a[k - i] as number), op.i64Mul]])
        }
        return this.sum(terms)
      }),
    )
  }

  /** Leaves limb k of the result in memory; the local keeps what is carried on. */
  #storeLimb(k: number, offset: number, value: number): void {
    const carry = [...get(value), ...i64(HALF), op.i64Add, ...i64(LIMB_BITS), op.i64ShrS, ...tee(value)]
    this.emit(get(OUT), get(value), carry, [...i64(LIMB_BITS), op.i64Shl, op.i64Sub, op.i64Store32], at(offset + 4 * k))
  }

  /** Stores columns divided by R, reduced: the lowest column is made zero fourteen times. */
  reduce(columns: readonly number[], offset: number): void {
    const inverse = negativeInverse()
    const quotients: number[] = []
    const carry = this.local()
    for (let k = 0; k <= COLUMNS; k++) {
      const terms: Term[] = []
      if (k < COLUMNS) terms.push([op.i64Add, get(columns[k] as number)])
      for (let i = Math.max(0, k - LIMBS + 1); i < Math.min(k, LIMBS); i++) {
        terms.push([op.i64Add, [...get(quotients[i] as number), ...i64(PRIME_LIMBS[k - i] as number), op.i64Mul]])
      }
      // Last, so that the products before do not wait for it.
      if (k > 0) terms.push([op.i64Add, get(carry)])
      this.emit(this.sum(terms), set(carry))
      if (k === COLUMNS) {
        this.emit(get(OUT), get(carry), [op.i64Store32], at(offset + 4 * (LIMBS - 1)))
      } else if (k >= LIMBS) {
        this.#storeLimb(k - LIMBS, offset, carry)
      } else {
        const shift = i64(64 - LIMB_BITS)
        const [quotient] = this.locals([
          [...get(carry), ...i64(inverse), op.i64Mul, ...shift, op.i64Shl, ...shift, op.i64ShrS],
        ]) as [number]
        quotients.push(quotient)
        this.emit(get(carry), get(quotient), i64(PRIME_LIMBS[0] as number), [op.i64Mul, op.i64Add])
        this.emit(i64(LIMB_BITS), [op.i64ShrS], set(carry))
      }
    }
  }

  /** Stores a number of up to 15 p, reduced: the nearest multiple of p, known by the two highest limbs, is taken off. */
  normalize(limbs: readonly number[], offset: number): void {
    // p / 2^364 has 17 bits; a quotient up to 15 needs some 20 more to be rounded as it should.
    const precision = 40n
    const scaled = Number((1n << (precision + BigInt(LIMB_BITS * (LIMBS - 1)))) / FIELD_PRIME)
    const [below, top] = [limbs[LIMBS - 2] as number, limbs[LIMBS - 1] as number]
    const [multiple] = this.locals([
      [
        ...[...get(top), ...get(below), ...i64(LIMB_BITS), op.i64ShrS, op.i64Add, ...i64(scaled), op.i64Mul],
        ...[...i64(2 ** (Number(precision) - 1)), op.i64Add, ...i64(Number(precision)), op.i64ShrS],
      ],
    ]) as [number]
    const carry = this.local()
    for (const [k, limb] of limbs.entries()) {
      this.emit(get(limb), get(multiple), i64(PRIME_LIMBS[k] as number), [op.i64Mul, op.i64Sub])
      if (k > 0) this.emit(get(carry), [op.i64Add])
      this.emit(set(carry))
      if (k < LIMBS - 1) this.#storeLimb(k, offset, carry)
      else this.emit(get(OUT), get(carry), [op.i64Store32], at(offset + 4 * k))
    }
  }

  body(): number[] {
    return body(this.#next - this.#parameters, this.#code)
  }
}

/** Parts of an element of Fp2: c0 and c1. */
const parts = (w: Writer, pointer: number): [number[], number[]] => [w.load(pointer, 0), w.load(pointer, ELEMENT_BYTES)]

function multiplyFp(): number[] {
  const w = new Writer(3)
  w.reduce(w.product(w.load(A, 0), w.load(B, 0)), 0)
  return w.body()
}

function squareFp(): number[] {
  const w = new Writer(2)
  w.reduce(w.square(w.load(A, 0)), 0)
  return w.body()
}

/** (a0 b0 - a1 b1) + ((a0 + a1)(b0 + b1) - a0 b0 - a1 b1) u: three products, two reductions. */
function multiplyFp2(): number[] {
  const w = new Writer(3)
  const [a0, a1] = parts(w, A)
  const [b0, b1] = parts(w, B)
  const first = w.product(a0, b0)
  const second = w.product(a1, b1)
  const mixed = w.product(w.join(a0, a1, op.i64Add), w.join(b0, b1, op.i64Add))
  w.reduce(w.join(first, second, op.i64Sub), 0)
  w.reduce(w.join(w.join(mixed, first, op.i64Sub), second, op.i64Sub), ELEMENT_BYTES)
  return w.body()
}

/** (a0 + a1)(a0 - a1) + 2 a0 a1 u. */
function squareFp2(): number[] {
  const w = new Writer(2)
  const [a0, a1] = parts(w, A)
  const real = w.product(w.join(a0, a1, op.i64Add), w.join(a0, a1, op.i64Sub))
  const imaginary = w.product(w.join(a0, a0, op.i64Add), a1)
  w.reduce(real, 0)
  w.reduce(imaginary, ELEMENT_BYTES)
  return w.body()
}

/** @param elements - how many of Fp lie behind each other */
function normalize(elements: number): number[] {
  const w = new Writer(2)
  for (let i = 0; i < elements; i++) w.normalize(w.load(A, i * ELEMENT_BYTES), i * ELEMENT_BYTES)
  return w.body()
}

/** What every other function is made of, in the order of the module. Sums of how many reduced elements each takes: */
export const INTEGER_FIELD: readonly WasmFunction[] = [
  // ka kb at most 35; at most 5.
  { name: 'fpMul', parameters: 3, body: multiplyFp() },
  { name: 'fpSqr', parameters: 2, body: squareFp() },
  // Up to 15 in all: limbs must fit in 32 bits.
  { name: 'fpAdd', parameters: 3, body: vectorSum(ELEMENT_BYTES, vector.i32x4Add) },
  { name: 'fpSub', parameters: 3, body: vectorSum(ELEMENT_BYTES, vector.i32x4Sub) },
  // 15.
  { name: 'fpReduce', parameters: 2, body: normalize(1) },
  // ka kb at most 17; at most 4.
  { name: 'fp2Mul', parameters: 3, body: multiplyFp2() },
  { name: 'fp2Sqr', parameters: 2, body: squareFp2() },
  { name: 'fp2Add', parameters: 3, body: vectorSum(PAIR_BYTES, vector.i32x4Add) },
  { name: 'fp2Sub', parameters: 3, body: vectorSum(PAIR_BYTES, vector.i32x4Sub) },
  { name: 'fp2Reduce', parameters: 2, body: normalize(2) },
  // Doubles k.
  { name: 'fp2Xi', parameters: 2, body: timesXi(vector.i32x4Add, vector.i32x4Sub) },
  { name: 'fpSqrTimes', parameters: 3, body: repeated(1) },
]
