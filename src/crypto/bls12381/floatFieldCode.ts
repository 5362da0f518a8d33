/**
 * Arithmetic in Fp and Fp2 with fused multiply-add on vectors of two doubles: an element is eight limbs of 49 bits, each a
 * whole number in a double, lowest first; R = 2^392. Both lanes of a vector work on elements of their own: the parts of an
 * element of Fp2, or two elements that have nothing to do with each other (a pair).
 *
 * A product of two limbs is split exactly: `high = a b + C1` rounds to a multiple of 2^50 (the exponent of C1), and
 * `a b + (C2 - high)` is what remains, moved by C3 = 1.5 2^52. Read as integers, the bits of both are the wanted numbers plus
 * those of C1 and C3, so columns are sums of integers modulo 2^64, and one constant for each column takes all those biases
 * off. This holds while |a b| <= 2^101: for sums of ka and kb reduced limbs, ka kb <= 32.
 *
 * A reduced element has limbs of at most 2^48 + 2^14 in size (zero is all zeros) and lies between -p and p.
 * @see Emmart, Zheng, Weems, "Faster modular exponentiation using double precision floating point arithmetic on the GPU"
 *   (splitting of products); WebAssembly relaxed SIMD, f64x2.relaxed_madd (fused on every machine that has it; asked once)
 */
import { at, body, type Code, get, i32, set, V128, vector, vectorOp, type WasmFunction } from '../wasmModule.ts'
import { ELEMENT_BYTES, FIELD_PRIME, FLOAT_LIMBS, PAIR_BYTES, toLimbs } from './limbs.ts'
import { repeated, timesXi, vectorSum } from './vectorCode.ts'

const { count: LIMBS, bits: LIMB_BITS } = FLOAT_LIMBS
const LIMB = 1n << BigInt(LIMB_BITS)
const COLUMNS = 2 * LIMBS
const LIMB_BYTES = 8
const VECTOR_BYTES = 16
const [OUT, A, B] = [0, 1, 2] as const
const PRIME_LIMBS = toLimbs(FIELD_PRIME, FLOAT_LIMBS)
const C1 = 1.5 * 2 ** 102
const C3 = 1.5 * 2 ** 52
const C2 = C1 + C3
/** Rounds to a multiple of a limb. */
const CQ = 1.5 * 2 ** 101
/** Makes columns positive; a multiple of a limb. */
const BIAS = 1n << 62n

function bitsOf(value: number): bigint {
  return new BigInt64Array(new Float64Array([value]).buffer)[0] as bigint
}

/** Vectors that lie in memory, in the order of their first use. */
export class Constants {
  readonly #vectors: (readonly [bigint, bigint])[] = []
  readonly #place: number

  /** @param place - offset in memory */
  constructor(place: number) {
    this.#place = place
  }

  bits(low: bigint, high: bigint = low): Code {
    const [first, second] = [BigInt.asUintN(64, low), BigInt.asUintN(64, high)]
    let index = this.#vectors.findIndex(([left, right]) => left === first && right === second)
    if (index < 0) index = this.#vectors.push([first, second]) - 1
    return [...i32(this.#place + index * VECTOR_BYTES), ...vectorOp(vector.load), ...at(0)]
  }

  float(value: number): Code {
    return this.bits(bitsOf(value))
  }

  /** What must be written at the place before anything runs. */
  words(): Int32Array {
    return new Int32Array(BigUint64Array.from(this.#vectors.flat()).buffer)
  }
}

/** -1/p modulo a limb, signed. */
function negativeInverse(): number {
  let inverse = 1n
  for (let i = 0; i < 6; i++) inverse = BigInt.asUintN(LIMB_BITS, inverse * (2n - FIELD_PRIME * inverse))
  return Number(BigInt.asIntN(LIMB_BITS, -inverse))
}

/** A product of limbs: code that leaves each. */
interface Product {
  readonly a: Code
  readonly b: Code
  /** 2 when it counts twice. */
  readonly times: 1 | 2
}

const shifted = (code: Code, bits: number): Code => [...code, ...i32(bits), ...vectorOp(vector.i64x2Shl)]

class Writer {
  readonly #code: number[] = []
  readonly #parameters: number
  readonly #constants: Constants
  #next: number

  constructor(parameters: number, constants: Constants) {
    this.#parameters = parameters
    this.#next = parameters
    this.#constants = constants
  }

  emit(...parts: readonly Code[]): void {
    for (const part of parts) for (const byte of part) this.#code.push(byte)
  }

  /** A new local with the value that the code leaves; what it gives is code that gets it. */
  keep(...code: readonly Code[]): Code {
    const local = this.#next++
    this.emit(...code, set(local))
    return get(local)
  }

  /** Lanes from the elements at these offsets. */
  loadPair(pointer: number, low = 0, high: number = ELEMENT_BYTES): Code[] {
    return Array.from({ length: LIMBS }, (_, i) => {
      const first = [...get(pointer), ...vectorOp(vector.load64Zero), ...at(low + i * LIMB_BYTES)]
      return this.keep(get(pointer), first, vectorOp(vector.load64Lane), at(high + i * LIMB_BYTES), [1])
    })
  }

  /** One element in both lanes; loaded where it is used. */
  splat(pointer: number, offset = 0): Code[] {
    return Array.from({ length: LIMBS }, (_, i) => [
      ...get(pointer),
      ...vectorOp(vector.load64Splat),
      ...at(offset + i * LIMB_BYTES),
    ])
  }

  float(value: number): Code {
    return this.#constants.float(value)
  }

  /** High and low halves of products that count so many times. */
  #sums(products: readonly Product[], times: number, c1: Code, c2: Code): { low: Code; high: Code } | undefined {
    let sums: { low: Code; high: Code } | undefined
    for (const product of products) {
      if (product.times !== times) continue
      const [a, b] = [this.keep(product.a), product.b]
      const high = this.keep(a, b, c1, vectorOp(vector.f64x2RelaxedMadd))
      const low = this.keep(a, b, c2, high, vectorOp(vector.f64x2Sub), vectorOp(vector.f64x2RelaxedMadd))
      sums =
        sums === undefined
          ? { low, high }
          : {
              low: this.keep(sums.low, low, vectorOp(vector.i64x2Add)),
              high: this.keep(sums.high, high, vectorOp(vector.i64x2Add)),
            }
    }
    return sums
  }

  /**
   * Leaves the limbs of a sum of products divided by R, reduced.
   * @param columns - products of each column
   */
  reduce(columns: readonly (readonly Product[])[]): Code[] {
    const constants = this.#constants
    const c1 = this.keep(constants.float(C1))
    const c2 = this.keep(constants.float(C2))
    const mask = this.keep(constants.bits(LIMB - 1n))
    const two52 = this.keep(constants.float(2 ** 52))
    const [c1Bits, c3Bits] = [bitsOf(C1), bitsOf(C3)]
    const inverse = constants.float(negativeInverse())
    const quotients: Code[] = []
    const out: Code[] = []
    /** High halves of the column before (which are in units of two limbs), and how many. */
    let highBefore: Code[] = []
    let highCountBefore = 0n
    /** What the columns before carry on: code of it, and what its bias is. */
    let carried: Code[] = []
    let carriedBias = 0n
    let above: Code | undefined
    for (let k = 0; k < COLUMNS; k++) {
      const products = [...(columns[k] ?? [])]
      for (let i = 0; i < quotients.length; i++) {
        const j = k - i
        if (j < 1 || j >= LIMBS) continue
        products.push({ a: quotients[i] as Code, b: constants.float(PRIME_LIMBS[j] as number), times: 1 })
      }
      const once = this.#sums(products, 1, c1, c2)
      const twice = this.#sums(products, 2, c1, c2)
      const count = BigInt(products.reduce((sum, { times }) => sum + times, 0))
      const isTop = k === COLUMNS - 1
      const centred = k >= LIMBS ? BIAS + LIMB / 2n : BIAS
      const biases = count * c3Bits + 2n * highCountBefore * c1Bits + carriedBias - (isTop ? 0n : centred)
      const terms: Code[] = []
      if (once !== undefined) terms.push(once.low)
      if (twice !== undefined) terms.push(shifted(twice.low, 1))
      terms.push(...highBefore)
      terms.push(...carried)
      const bias = isTop ? -bitsOf(C3) + biases : biases
      terms.push(constants.bits(-bias))
      const sum = terms.flatMap((term, i) => (i === 0 ? [...term] : [...term, ...vectorOp(vector.i64x2Add)]))
      highBefore = []
      if (once !== undefined) highBefore.push(shifted(once.high, 1))
      if (twice !== undefined) highBefore.push(shifted(twice.high, 2))
      highCountBefore = count
      carried = []
      carriedBias = 0n
      if (isTop) {
        const before = above === undefined ? [] : [...above, ...vectorOp(vector.i64x2Add)]
        const correction = C3 + Number((BIAS + LIMB / 2n) / LIMB)
        out.push(this.keep(sum, before, constants.float(correction), vectorOp(vector.f64x2Sub)))
        break
      }
      const column = this.keep(sum)
      const upper = this.keep(column, i32(LIMB_BITS), vectorOp(vector.i64x2ShrU))
      if (k < LIMBS) {
        const t = this.keep(
          [...column, ...mask, ...vectorOp(vector.and), ...two52, ...vectorOp(vector.or)],
          [...two52, ...vectorOp(vector.f64x2Sub)],
        )
        const cq = constants.float(CQ)
        const near = [...t, ...inverse, ...cq, ...vectorOp(vector.f64x2RelaxedMadd)]
        const q = this.keep(t, inverse, cq, near, vectorOp(vector.f64x2Sub), vectorOp(vector.f64x2RelaxedMadd))
        quotients.push(q)
        const scaled = [...t, ...constants.float(2 ** -LIMB_BITS), ...vectorOp(vector.f64x2Mul)]
        const exact = this.keep(
          [...q, ...constants.float((PRIME_LIMBS[0] as number) * 2 ** -LIMB_BITS), ...scaled],
          vectorOp(vector.f64x2RelaxedMadd),
          [...constants.float(C3), ...vectorOp(vector.f64x2Add)],
        )
        carried = [upper, exact]
        carriedBias = BIAS / LIMB + c3Bits
      } else {
        const low49 = [...column, ...mask, ...vectorOp(vector.and)]
        const whole = above === undefined ? low49 : [...low49, ...above, ...vectorOp(vector.i64x2Add)]
        const correction = 2 ** 52 + 2 ** (LIMB_BITS - 1) + (above === undefined ? 0 : Number(BIAS / LIMB))
        const asFloat = above === undefined ? vector.or : vector.i64x2Add
        out.push(this.keep(whole, two52, vectorOp(asFloat), constants.float(correction), vectorOp(vector.f64x2Sub)))
        above = upper
      }
    }
    return out
  }

  /** Columns of a product. */
  product(a: readonly Code[], b: readonly Code[]): Product[][] {
    const columns: Product[][] = Array.from({ length: COLUMNS }, () => [])
    for (const [i, left] of a.entries())
      for (const [j, right] of b.entries()) columns[i + j]?.push({ a: left, b: right, times: 1 })
    return columns
  }

  square(a: readonly Code[]): Product[][] {
    const columns: Product[][] = Array.from({ length: COLUMNS }, () => [])
    for (let i = 0; i < LIMBS; i++) {
      for (let j = i; j < LIMBS; j++) {
        columns[i + j]?.push({ a: a[i] as Code, b: a[j] as Code, times: i === j ? 1 : 2 })
      }
    }
    return columns
  }

  /** Limbs as they are after one carry from each to the next: of sums, so that they can be multiplied. */
  carry(limbs: readonly Code[]): Code[] {
    const magic = this.keep(this.float(1.5 * 2 ** (52 + LIMB_BITS)))
    const inverse = this.keep(this.float(2 ** -LIMB_BITS))
    const carries: Code[] = []
    return limbs.map((limb, k) => {
      const before = carries[k - 1]
      const joined =
        before === undefined ? limb : [...before, ...inverse, ...limb, ...vectorOp(vector.f64x2RelaxedMadd)]
      if (k === LIMBS - 1) return this.keep(joined)
      const rounded = [...limb, ...magic, ...vectorOp(vector.f64x2Add), ...magic, ...vectorOp(vector.f64x2Sub)]
      const carried = this.keep(rounded)
      carries.push(carried)
      return this.keep(joined, carried, vectorOp(vector.f64x2Sub))
    })
  }

  /** The nearest multiple of p taken off a number of up to 15 p. */
  normalize(limbs: readonly Code[]): Code[] {
    const scale = Number((1n << BigInt(100 + LIMB_BITS * (LIMBS - 1))) / FIELD_PRIME) / 2 ** 100
    const magic = this.float(C3)
    const [below, top] = [limbs[LIMBS - 2] as Code, limbs[LIMBS - 1] as Code]
    const multiple = this.keep(
      [...below, ...this.float(2 ** -LIMB_BITS), ...top, ...vectorOp(vector.f64x2RelaxedMadd)],
      [...this.float(scale), ...magic, ...vectorOp(vector.f64x2RelaxedMadd), ...magic, ...vectorOp(vector.f64x2Sub)],
    )
    const less = limbs.map((limb, k) =>
      this.keep(multiple, this.float(-(PRIME_LIMBS[k] as number)), limb, vectorOp(vector.f64x2RelaxedMadd)),
    )
    return this.carry(less)
  }

  /** Stores the lanes as elements behind each other. */
  storePair(limbs: readonly Code[]): void {
    for (const [i, limb] of limbs.entries()) {
      for (const lane of [0, 1]) {
        this.emit(get(OUT), limb, vectorOp(vector.store64Lane), at(i * LIMB_BYTES + lane * ELEMENT_BYTES), [lane])
      }
    }
  }

  /** Stores the first lane. */
  storeOne(limbs: readonly Code[]): void {
    for (const [i, limb] of limbs.entries()) {
      this.emit(get(OUT), limb, vectorOp(vector.store64Lane), at(i * LIMB_BYTES), [0])
    }
  }

  body(): number[] {
    return body(this.#next - this.#parameters, this.#code, V128)
  }
}

function multiplyFp(c: Constants): number[] {
  const w = new Writer(3, c)
  w.storeOne(w.reduce(w.product(w.splat(A), w.splat(B))))
  return w.body()
}

function squareFp(c: Constants): number[] {
  const w = new Writer(2, c)
  const a = w.splat(A).map((limb) => w.keep(limb))
  w.storeOne(w.reduce(w.square(a)))
  return w.body()
}

function multiplyPair(c: Constants): number[] {
  const w = new Writer(3, c)
  w.storePair(w.reduce(w.product(w.loadPair(A), w.loadPair(B))))
  return w.body()
}

function squarePair(c: Constants): number[] {
  const w = new Writer(2, c)
  w.storePair(w.reduce(w.square(w.loadPair(A))))
  return w.body()
}

function multiplyPairByOne(c: Constants): number[] {
  const w = new Writer(3, c)
  w.storePair(w.reduce(w.product(w.loadPair(A), w.splat(B))))
  return w.body()
}

/** Lanes: a0 b0 - a1 b1, a0 b1 + a1 b0. */
function multiplyFp2(c: Constants): number[] {
  const w = new Writer(3, c)
  const b = w.loadPair(B)
  const sign = w.keep(c.bits(1n << 63n, 0n))
  const turned = w.loadPair(B, ELEMENT_BYTES, 0).map((limb) => w.keep(limb, sign, vectorOp(vector.xor)))
  const first = w.product(w.splat(A), b)
  const second = w.product(w.splat(A, ELEMENT_BYTES), turned)
  w.storePair(w.reduce(first.map((column, k) => [...column, ...(second[k] ?? [])])))
  return w.body()
}

/** Lanes: (a0 + a1)(a0 - a1), 2 a0 a1. */
function squareFp2(c: Constants): number[] {
  const w = new Writer(2, c)
  const [real, turned, both] = [w.splat(A), w.loadPair(A, ELEMENT_BYTES, 0), w.loadPair(A)]
  const sum = real.map((limb, i) => w.keep(limb, turned[i] as Code, vectorOp(vector.f64x2Add)))
  const difference = both.map((limb, i) => {
    const imaginary = [...get(A), ...vectorOp(vector.load64Zero), ...at(ELEMENT_BYTES + i * LIMB_BYTES)]
    return w.keep(limb, imaginary, vectorOp(vector.f64x2Sub))
  })
  w.storePair(w.reduce(w.product(w.carry(sum), w.carry(difference))))
  return w.body()
}

function normalizeFp(c: Constants): number[] {
  const w = new Writer(2, c)
  w.storeOne(w.normalize(w.splat(A).map((limb) => w.keep(limb))))
  return w.body()
}

function normalizePair(c: Constants): number[] {
  const w = new Writer(2, c)
  w.storePair(w.normalize(w.loadPair(A)))
  return w.body()
}

/** The functions of `integerFieldCode.ts`, and two on pairs. Sums of how many reduced elements each takes: */
export function floatField(constants: Constants): WasmFunction[] {
  return [
    // ka kb at most 32; at most 5.
    { name: 'fpMul', parameters: 3, body: multiplyFp(constants) },
    { name: 'fpSqr', parameters: 2, body: squareFp(constants) },
    // Up to 15 in all.
    { name: 'fpAdd', parameters: 3, body: vectorSum(ELEMENT_BYTES, vector.f64x2Add) },
    { name: 'fpSub', parameters: 3, body: vectorSum(ELEMENT_BYTES, vector.f64x2Sub) },
    // 15.
    { name: 'fpReduce', parameters: 2, body: normalizeFp(constants) },
    // ka kb at most 32; at most 5.
    { name: 'fp2Mul', parameters: 3, body: multiplyFp2(constants) },
    { name: 'fp2Sqr', parameters: 2, body: squareFp2(constants) },
    { name: 'fp2Add', parameters: 3, body: vectorSum(PAIR_BYTES, vector.f64x2Add) },
    { name: 'fp2Sub', parameters: 3, body: vectorSum(PAIR_BYTES, vector.f64x2Sub) },
    { name: 'fp2Reduce', parameters: 2, body: normalizePair(constants) },
    { name: 'fp2Xi', parameters: 2, body: timesXi(vector.f64x2Add, vector.f64x2Sub) },
    { name: 'fpSqrTimes', parameters: 3, body: repeated(1) },
    { name: 'fp2MulFp', parameters: 3, body: multiplyPairByOne(constants) },
    { name: 'pairMul', parameters: 3, body: multiplyPair(constants) },
    { name: 'pairSqr', parameters: 2, body: squarePair(constants) },
    { name: 'pairSqrTimes', parameters: 3, body: repeated(14) },
  ]
}
