/**
 * BLS12-381 by mcl-wasm. Points and values are copies of mcl's in-memory form (coordinates in Montgomery form); every
 * operation copies them into fixed buffers of the module and its result out, which costs nothing against the arithmetic.
 * @see herumi/mcl include/mcl/bn.h
 */
import { FR_BYTES, G1_BYTES, G2_BYTES, GT_BYTES, type LoadedMcl, loadMcl, type Mcl, must } from '../../crypto/mcl.ts'
import { scalarBytes } from '../field.ts'
import { type Curve, type G1, G1_LENGTH, type G2, G2_LENGTH, GT_LENGTH, type Gt, type Pair } from './curve.ts'
import { COORDINATE_LENGTH, isSoundEncoding, PARAMETER } from './encoding.ts'
import { frobeniusFactors } from './frobenius.ts'

/** Points, pairs or values at once; a longer list is done in parts. */
const BATCH = 64
/** Bits of |z| below the highest. */
const PARAMETER_BITS = PARAMETER.toString(2).slice(1)
const FP2_BYTES = 2 * COORDINATE_LENGTH

const raw = (value: G1 | G2 | Gt): Uint8Array => value as unknown as Uint8Array

class MclCurve implements Curve {
  readonly name = 'mcl-wasm'
  readonly #mcl: Mcl
  readonly #memory: { buffer: ArrayBuffer }
  readonly #bytesAt: number
  readonly #g1s: number
  readonly #g2s: number
  readonly #gts: number
  readonly #scalars: number
  readonly #sum: number
  readonly #part: number
  readonly #factors: number

  constructor({ mcl, memory }: LoadedMcl) {
    this.#mcl = mcl
    this.#memory = memory
    this.#bytesAt = mcl._malloc(GT_LENGTH)
    this.#g1s = mcl._malloc(G1_BYTES * BATCH)
    this.#g2s = mcl._malloc(G2_BYTES * BATCH)
    this.#gts = mcl._malloc(GT_BYTES * BATCH)
    this.#scalars = mcl._malloc(FR_BYTES * BATCH)
    this.#sum = mcl._malloc(GT_BYTES)
    this.#part = mcl._malloc(GT_BYTES)
    const factors = frobeniusFactors()
    this.#factors = mcl._malloc(FP2_BYTES * factors.length)
    for (const [i, factor] of factors.entries()) {
      this.#setField(this.#factors + i * FP2_BYTES, factor[0])
      this.#setField(this.#factors + i * FP2_BYTES + COORDINATE_LENGTH, factor[1])
    }
  }

  readG1(bytes: Uint8Array): G1 | undefined {
    if (!isSoundEncoding(bytes, G1_LENGTH)) return undefined
    this.#view(this.#bytesAt, G1_LENGTH).set(bytes)
    const read = this.#mcl._mclBnG1_deserialize(this.#sum, this.#bytesAt, G1_LENGTH)
    return read === G1_LENGTH ? this.#g1(this.#sum) : undefined
  }

  readG2(bytes: Uint8Array): G2 | undefined {
    if (!isSoundEncoding(bytes, G2_LENGTH)) return undefined
    this.#view(this.#bytesAt, G2_LENGTH).set(bytes)
    const read = this.#mcl._mclBnG2_deserialize(this.#sum, this.#bytesAt, G2_LENGTH)
    return read === G2_LENGTH ? this.#g2(this.#sum) : undefined
  }

  affineG1(bytes: Uint8Array): G1 {
    for (let i = 0; i < 2; i++) this.#setBigEndian(this.#sum, i, bytes, i)
    this.#mcl._mclBnFp_setInt32(this.#sum + 2 * COORDINATE_LENGTH, 1)
    return this.#g1(this.#sum)
  }

  affineG2(bytes: Uint8Array): G2 {
    // In the bytes c1 comes before c0.
    for (let i = 0; i < 4; i++) this.#setBigEndian(this.#sum, i ^ 1, bytes, i)
    this.#mcl._mclBnFp_setInt32(this.#sum + 4 * COORDINATE_LENGTH, 1)
    this.#mcl._mclBnFp_setInt32(this.#sum + 5 * COORDINATE_LENGTH, 0)
    return this.#g2(this.#sum)
  }

  isInG1(point: G1): boolean {
    return this.#mcl._mclBnG1_isValid(this.#put(this.#g1s, point)) === 1
  }

  isInG2(point: G2): boolean {
    return this.#mcl._mclBnG2_isValid(this.#put(this.#g2s, point)) === 1
  }

  writeG1(point: G1): Uint8Array {
    const length = this.#mcl._mclBnG1_serialize(this.#bytesAt, G1_LENGTH, this.#put(this.#g1s, point))
    must(length === G1_LENGTH, 'writing a point of G1')
    return this.#view(this.#bytesAt, length).slice()
  }

  writeG2(point: G2): Uint8Array {
    const length = this.#mcl._mclBnG2_serialize(this.#bytesAt, G2_LENGTH, this.#put(this.#g2s, point))
    must(length === G2_LENGTH, 'writing a point of G2')
    return this.#view(this.#bytesAt, length).slice()
  }

  isInfinityG1(point: G1): boolean {
    return this.#mcl._mclBnG1_isZero(this.#put(this.#g1s, point)) === 1
  }

  isInfinityG2(point: G2): boolean {
    return this.#mcl._mclBnG2_isZero(this.#put(this.#g2s, point)) === 1
  }

  negateG1(point: G1): G1 {
    this.#mcl._mclBnG1_neg(this.#sum, this.#put(this.#g1s, point))
    return this.#g1(this.#sum)
  }

  sumG1(points: readonly G1[], scalars: readonly bigint[]): G1 {
    const mcl = this.#mcl
    mcl._mclBnG1_clear(this.#sum)
    const others: number[] = []
    for (const [i, scalar] of scalars.entries()) {
      // Nothing to multiply: half a millisecond less.
      if (scalar === 1n) mcl._mclBnG1_add(this.#sum, this.#sum, this.#put(this.#g1s, points[i] as G1))
      else others.push(i)
    }
    const rest = others.map((i) => points[i] as G1)
    const restScalars = others.map((i) => scalars[i] as bigint)
    this.#inParts(rest, this.#g1s, G1_BYTES, restScalars, (count) => {
      mcl._mclBnG1_mulVec(this.#part, this.#g1s, this.#scalars, count)
      mcl._mclBnG1_add(this.#sum, this.#sum, this.#part)
    })
    return this.#g1(this.#sum)
  }

  sumG2(points: readonly G2[], scalars: readonly bigint[]): G2 {
    const mcl = this.#mcl
    mcl._mclBnG2_clear(this.#sum)
    this.#inParts(points, this.#g2s, G2_BYTES, scalars, (count) => {
      mcl._mclBnG2_mulVec(this.#part, this.#g2s, this.#scalars, count)
      mcl._mclBnG2_add(this.#sum, this.#sum, this.#part)
    })
    return this.#g2(this.#sum)
  }

  pairing(pairs: readonly Pair[]): Gt {
    const mcl = this.#mcl
    // mcl's Miller loop gives one for a pair with infinity.
    mcl._mclBnGT_setInt32(this.#sum, 1)
    for (let start = 0; start < pairs.length; start += BATCH) {
      const many = Math.min(BATCH, pairs.length - start)
      for (let i = 0; i < many; i++) {
        const [a, b] = pairs[start + i] as Pair
        this.#put(this.#g1s + i * G1_BYTES, a)
        this.#put(this.#g2s + i * G2_BYTES, b)
      }
      mcl._mclBn_millerLoopVec(this.#part, this.#g1s, this.#g2s, many)
      mcl._mclBnGT_mul(this.#sum, this.#sum, this.#part)
    }
    mcl._mclBn_finalExp(this.#sum, this.#sum)
    return this.#gt(this.#sum)
  }

  readGt(bytes: Uint8Array): Gt {
    for (let i = 0; i < 12; i++) {
      const coordinate = bytes.subarray(i * COORDINATE_LENGTH, (i + 1) * COORDINATE_LENGTH)
      this.#setLittleEndian(this.#sum + i * COORDINATE_LENGTH, coordinate)
    }
    return this.#gt(this.#sum)
  }

  writeGt(value: Gt): Uint8Array {
    const mcl = this.#mcl
    const at = this.#put(this.#gts, value)
    for (let i = 0; i < 12; i++) {
      const coordinate = this.#bytesAt + i * COORDINATE_LENGTH
      // mcl leaves out the high zero bytes.
      this.#view(coordinate, COORDINATE_LENGTH).fill(0)
      const length = mcl._mclBnFp_getLittleEndian(coordinate, COORDINATE_LENGTH, at + i * COORDINATE_LENGTH)
      must(length > 0, 'writing a coordinate')
    }
    return this.#view(this.#bytesAt, GT_LENGTH).slice()
  }

  equalGt(a: Gt, b: Gt): boolean {
    return this.#mcl._mclBnGT_isEqual(this.#put(this.#gts, a), this.#put(this.#part, b)) === 1
  }

  isOneGt(value: Gt): boolean {
    return this.#mcl._mclBnGT_isOne(this.#put(this.#gts, value)) === 1
  }

  isInGt(value: Gt): boolean {
    const mcl = this.#mcl
    const x = this.#put(this.#gts, value)
    const [p1, p2, p4] = [x + GT_BYTES, x + 2 * GT_BYTES, x + 3 * GT_BYTES]
    this.#frobenius(p1, x)
    this.#frobenius(p2, p1)
    this.#frobenius(p4, p2)
    this.#frobenius(p4, p4)
    // In the cyclotomic subgroup (p^4 - p^2 + 1), and in it of order r: x^p = x^z.
    // @see Scott, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves", section 6
    mcl._mclBnGT_mul(p4, p4, x)
    if (mcl._mclBnGT_isEqual(p4, p2) !== 1) return false
    this.#view(this.#sum, GT_BYTES).set(this.#view(x, GT_BYTES))
    for (const bit of PARAMETER_BITS) {
      mcl._mclBnGT_sqr(this.#sum, this.#sum)
      if (bit === '1') mcl._mclBnGT_mul(this.#sum, this.#sum, x)
    }
    mcl._mclBnGT_inv(this.#sum, this.#sum)
    return mcl._mclBnGT_isEqual(this.#sum, p1) === 1
  }

  overConjugate(value: Gt): Gt {
    const mcl = this.#mcl
    const x = this.#put(this.#gts, value)
    // mcl's plain inverse is the conjugate: right only in the target group, and just what is wanted here.
    mcl._mclBnGT_inv(this.#part, x)
    mcl._mclBnGT_invGeneric(this.#part, this.#part)
    mcl._mclBnGT_mul(this.#sum, x, this.#part)
    return this.#gt(this.#sum)
  }

  productGt(values: readonly Gt[], exponents: readonly bigint[]): Gt {
    const mcl = this.#mcl
    mcl._mclBnGT_setInt32(this.#sum, 1)
    this.#inParts(values, this.#gts, GT_BYTES, exponents, (count) => {
      mcl._mclBnGT_powVec(this.#part, this.#gts, this.#scalars, count)
      mcl._mclBnGT_mul(this.#sum, this.#sum, this.#part)
    })
    return this.#gt(this.#sum)
  }

  /** Puts values and scalars into their buffers, part by part. */
  #inParts(
    values: readonly (G1 | G2 | Gt)[],
    at: number,
    size: number,
    scalars: readonly bigint[],
    run: (count: number) => void,
  ): void {
    for (let start = 0; start < values.length; start += BATCH) {
      const many = Math.min(BATCH, values.length - start)
      for (let i = 0; i < many; i++) {
        this.#put(at + i * size, values[start + i] as G1 | G2 | Gt)
        this.#view(this.#bytesAt, FR_BYTES).set(scalarBytes(scalars[start + i] as bigint))
        const read = this.#mcl._mclBnFr_setLittleEndian(this.#scalars + i * FR_BYTES, this.#bytesAt, FR_BYTES)
        must(read === 0, 'reading a scalar')
      }
      run(many)
    }
  }

  /** x^p: conjugates of the six coordinates over Fp2, each times its factor. */
  #frobenius(out: number, x: number): void {
    const mcl = this.#mcl
    for (let i = 0; i < 6; i++) {
      const [from, to] = [x + i * FP2_BYTES, out + i * FP2_BYTES]
      if (from !== to) this.#view(to, COORDINATE_LENGTH).set(this.#view(from, COORDINATE_LENGTH))
      mcl._mclBnFp_neg(to + COORDINATE_LENGTH, from + COORDINATE_LENGTH)
      mcl._mclBnFp2_mul(to, to, this.#factors + i * FP2_BYTES)
    }
  }

  #view(at: number, length: number): Uint8Array {
    // A fresh view each time: the memory may have grown.
    return new Uint8Array(this.#memory.buffer, at, length)
  }

  #put(at: number, value: G1 | G2 | Gt): number {
    const bytes = raw(value)
    this.#view(at, bytes.length).set(bytes)
    return at
  }

  #g1(at: number): G1 {
    return this.#view(at, G1_BYTES).slice() as unknown as G1
  }

  #g2(at: number): G2 {
    return this.#view(at, G2_BYTES).slice() as unknown as G2
  }

  #gt(at: number): Gt {
    return this.#view(at, GT_BYTES).slice() as unknown as Gt
  }

  #setLittleEndian(at: number, bytes: Uint8Array): void {
    this.#view(this.#bytesAt, COORDINATE_LENGTH).set(bytes)
    const read = this.#mcl._mclBnFp_setLittleEndian(at, this.#bytesAt, COORDINATE_LENGTH)
    must(read === 0, 'reading a coordinate')
  }

  #setBigEndian(point: number, to: number, bytes: Uint8Array, from: number): void {
    const coordinate = bytes.slice(from * COORDINATE_LENGTH, (from + 1) * COORDINATE_LENGTH).reverse()
    this.#setLittleEndian(point + to * COORDINATE_LENGTH, coordinate)
  }

  #setField(at: number, value: bigint): void {
    const bytes = new Uint8Array(COORDINATE_LENGTH)
    for (let i = 0, rest = value; rest > 0n; i++, rest >>= 8n) bytes[i] = Number(rest & 0xffn)
    this.#setLittleEndian(at, bytes)
  }
}

/** Compiles mcl where that has not been done. */
export async function loadMclCurve(): Promise<Curve> {
  return new MclCurve(await loadMcl())
}
