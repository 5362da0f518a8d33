/**
 * BLS12-381 by Petrel's own WebAssembly. Points and values are copies of what lay in its memory; a point of G2 keeps the
 * lines of Miller's loop, so that those of a verifying key are made once.
 */

import { encodedLittleEndian } from '../../crypto/bls12381/encoding.ts'
import { Bls12381Engine } from '../../crypto/bls12381/engine.ts'
import { G1Group } from '../../crypto/bls12381/g1.ts'
import { G2Group, LINES_BYTES } from '../../crypto/bls12381/g2.ts'
import { COORDINATE_LENGTH, ELEMENT_BYTES } from '../../crypto/bls12381/limbs.ts'
import { MultiScalar } from '../../crypto/bls12381/multiScalar.ts'
import { type PreparedPair, TargetGroup } from '../../crypto/bls12381/pairing.ts'
import { productOfPowers } from '../../crypto/bls12381/productOfPowers.ts'
import { TWELVE_BYTES } from '../../crypto/bls12381/towerCode.ts'
import { type Curve, type G1, type G2, type Gt, type InputPoints, type Pair, WEIGHT_BITS } from './curve.ts'

/** Pairs of one Miller loop: 26 KB of lines each. */
const BATCH = 64

/** A point of G2 in memory's form, with its lines once they are made. */
interface Point2 {
  readonly words: Int32Array
  lines: Int32Array | undefined
}

const g1 = (point: G1): Int32Array => point as unknown as Int32Array
const g2 = (point: G2): Point2 => point as unknown as Point2
const gt = (value: Gt): Int32Array => value as unknown as Int32Array

class WasmCurve implements Curve {
  readonly name = 'own WebAssembly'
  readonly #engine: Bls12381Engine
  readonly #g1: G1Group
  readonly #g2: G2Group
  readonly #gt: TargetGroup

  constructor(engine: Bls12381Engine) {
    this.#engine = engine
    this.#g1 = new G1Group(engine)
    this.#g2 = new G2Group(engine)
    this.#gt = new TargetGroup(engine)
  }

  readG1(bytes: Uint8Array): G1 | undefined {
    return this.readManyG1([bytes])[0]
  }

  readManyG1(points: readonly Uint8Array[]): (G1 | undefined)[] {
    const engine = this.#engine
    return engine.within(() => {
      const outs = points.map(() => engine.allocate(this.#g1.pointBytes))
      const results = this.#g1.readMany(outs, points)
      return results.map((isPoint, i) => (isPoint ? this.#takeG1(outs[i] as number) : undefined))
    })
  }

  readG2(bytes: Uint8Array): G2 | undefined {
    return this.readManyG2([bytes])[0]
  }

  readManyG2(points: readonly Uint8Array[]): (G2 | undefined)[] {
    const engine = this.#engine
    const read: (G2 | undefined)[] = []
    for (let at = 0; at < points.length; at += 2) {
      const first = points[at] as Uint8Array
      engine.within(() => {
        const outs = [engine.allocate(this.#g2.pointBytes), engine.allocate(this.#g2.pointBytes)] as const
        const lines = [engine.allocate(LINES_BYTES), engine.allocate(LINES_BYTES)] as const
        // The last one of an odd number is both.
        const isPoint = this.#g2.readTwo(outs, [first, points[at + 1] ?? first], lines)
        for (const lane of [0, 1] as const) {
          if (at + lane === points.length) continue
          const made = this.#g2.isInfinity(outs[lane]) ? undefined : engine.take(lines[lane], LINES_BYTES)
          read.push(isPoint[lane] ? this.#takeG2(outs[lane], made) : undefined)
        }
      })
    }
    return read
  }

  affineG1(bytes: Uint8Array): G1 {
    return this.#makeG1((out) => {
      this.#g1.readAffine(out, bytes)
      return true
    }) as G1
  }

  affineG2(bytes: Uint8Array): G2 {
    const engine = this.#engine
    return engine.within(() => {
      const out = engine.allocate(this.#g2.pointBytes)
      this.#g2.readAffine(out, bytes)
      return this.#takeG2(out, undefined)
    })
  }

  inputPoints(bytes: Uint8Array): InputPoints {
    // In memory of their own.
    const points = new MultiScalar(bytes)
    return {
      count: points.count,
      allOnCurve: () => points.allOnCurve(),
      sum: (scalars) => {
        const sum = points.sum(scalars)
        return sum === undefined ? this.sumG1([], []) : this.affineG1(sum)
      },
    }
  }

  isInG1(point: G1): boolean {
    return this.#withG1(point, (at) => this.#g1.isOnCurve(at) && this.#g1.isInSubgroup(at))
  }

  isInG2(point: G2): boolean {
    const engine = this.#engine
    return engine.within(() => {
      const at = this.#putG2(point)
      const lines = engine.allocate(LINES_BYTES)
      if (!this.#g2.isOnCurve(at) || !this.#g2.prepare(lines, at)) return false
      g2(point).lines ??= engine.take(lines, LINES_BYTES)
      return true
    })
  }

  writeG1(point: G1): Uint8Array {
    return this.#withG1(point, (at) => this.#g1.write(at))
  }

  writeG2(point: G2): Uint8Array {
    return this.#engine.within(() => this.#g2.write(this.#putG2(point)))
  }

  isInfinityG1(point: G1): boolean {
    return this.#withG1(point, (at) => this.#g1.isInfinity(at))
  }

  isInfinityG2(point: G2): boolean {
    return this.#engine.within(() => this.#g2.isInfinity(this.#putG2(point)))
  }

  negateG1(point: G1): G1 {
    return this.#withG1(point, (at) => {
      this.#g1.negate(at, at)
      return this.#takeG1(at)
    })
  }

  weighG1(points: readonly G1[], weights: readonly bigint[]): G1[] {
    const engine = this.#engine
    return engine.within(() => {
      const places = points.map((point) => this.#putG1(point))
      this.#g1.toAffine(places)
      this.#g1.multiplyMany(places, places, weights, WEIGHT_BITS / 4)
      return places.map((place) => this.#takeG1(place))
    })
  }

  sumG1(points: readonly G1[], scalars: readonly bigint[]): G1 {
    return this.#makeG1((out) => {
      const places = points.map((point) => this.#putG1(point))
      this.#g1.sum(out, places, scalars)
      return true
    }) as G1
  }

  sumG2(points: readonly G2[], scalars: readonly bigint[]): G2 {
    const engine = this.#engine
    return engine.within(() => {
      const out = engine.allocate(this.#g2.pointBytes)
      const places = points.map((point) => this.#putG2(point))
      this.#g2.sum(out, places, scalars)
      return this.#takeG2(out, undefined)
    })
  }

  pairing(pairs: readonly Pair[]): Gt {
    const engine = this.#engine
    return engine.within(() => {
      const product = engine.allocate(TWELVE_BYTES)
      const part = engine.allocate(TWELVE_BYTES)
      this.#gt.setOne(product)
      for (let start = 0; start < pairs.length; start += BATCH) {
        engine.within(() => {
          this.#gt.millerLoop(part, this.#prepare(pairs.slice(start, start + BATCH)))
          engine.call.fp12Mul(product, product, part)
        })
      }
      this.#gt.finalExponentiation(product)
      return this.#takeGt(product)
    })
  }

  readGt(bytes: Uint8Array): Gt {
    const engine = this.#engine
    return engine.within(() => {
      const out = engine.allocate(TWELVE_BYTES)
      for (let i = 0; i < 12; i++) {
        engine.writeBytes(out + i * ELEMENT_BYTES, encodedLittleEndian(bytes, i))
      }
      return this.#takeGt(out)
    })
  }

  writeGt(value: Gt): Uint8Array {
    const engine = this.#engine
    return engine.within(() => {
      const at = this.#putGt(value)
      const bytes = new Uint8Array(12 * COORDINATE_LENGTH)
      const view = new DataView(bytes.buffer)
      for (let i = 0; i < 12; i++) {
        let rest = engine.readNumber(at + i * ELEMENT_BYTES)
        for (let to = i * COORDINATE_LENGTH; rest > 0n; to += 8, rest >>= 64n) {
          view.setBigUint64(to, BigInt.asUintN(64, rest), true)
        }
      }
      return bytes
    })
  }

  equalGt(a: Gt, b: Gt): boolean {
    return this.#engine.within(() => this.#engine.equal(this.#putGt(a), this.#putGt(b), 12))
  }

  isOneGt(value: Gt): boolean {
    return this.#engine.within(() => this.#engine.equal(this.#putGt(value), this.#engine.one, 12))
  }

  isInGt(value: Gt): boolean {
    return this.#engine.within(() => this.#gt.isInGroup(this.#putGt(value)))
  }

  overConjugate(value: Gt): Gt {
    const engine = this.#engine
    return engine.within(() => {
      const at = this.#putGt(value)
      const other = engine.allocate(TWELVE_BYTES)
      engine.call.fp12Conjugate(other, at)
      this.#gt.invert(other, other)
      engine.call.fp12Mul(at, at, other)
      return this.#takeGt(at)
    })
  }

  productGt(values: readonly Gt[], exponents: readonly bigint[]): Gt {
    const engine = this.#engine
    const { call } = engine
    return engine.within(() => {
      const fresh = (): number => engine.allocate(TWELVE_BYTES)
      const places = values.map((value) => this.#putGt(value))
      const product = productOfPowers(places, exponents, {
        one: engine.one,
        multiply: (a, b) => {
          const out = fresh()
          call.fp12Mul(out, a, b)
          return out
        },
        square: (a) => {
          const out = fresh()
          call.fp12CyclotomicSqr(out, a)
          return out
        },
        invert: (a) => {
          const out = fresh()
          call.fp12Conjugate(out, a)
          return out
        },
      })
      return this.#takeGt(product)
    })
  }

  /** Points of G1 made affine, lines of those of G2; pairs with infinity are left out. */
  #prepare(pairs: readonly Pair[]): PreparedPair[] {
    const engine = this.#engine
    const prepared: PreparedPair[] = []
    for (const [a, b] of pairs) {
      const [point, other] = [this.#putG1(a), g2(b)]
      if (this.#g1.isInfinity(point) || this.isInfinityG2(b)) continue
      const lines = engine.allocate(LINES_BYTES)
      if (other.lines === undefined) {
        engine.within(() => {
          const at = this.#putG2(b)
          this.#g2.toAffine(at)
          this.#g2.prepare(lines, at)
        })
        other.lines = engine.take(lines, LINES_BYTES)
      } else {
        engine.put(lines, other.lines)
      }
      prepared.push([point, lines])
    }
    this.#g1.toAffine(prepared.map(([point]) => point))
    return prepared
  }

  #makeG1(write: (out: number) => boolean): G1 | undefined {
    const engine = this.#engine
    return engine.within(() => {
      const out = engine.allocate(this.#g1.pointBytes)
      return write(out) ? this.#takeG1(out) : undefined
    })
  }

  #withG1<T>(point: G1, use: (at: number) => T): T {
    return this.#engine.within(() => use(this.#putG1(point)))
  }

  #putG1(point: G1): number {
    const at = this.#engine.allocate(this.#g1.pointBytes)
    this.#engine.put(at, g1(point))
    return at
  }

  #putG2(point: G2): number {
    const at = this.#engine.allocate(this.#g2.pointBytes)
    this.#engine.put(at, g2(point).words)
    return at
  }

  #putGt(value: Gt): number {
    const at = this.#engine.allocate(TWELVE_BYTES)
    this.#engine.put(at, gt(value))
    return at
  }

  #takeG1(at: number): G1 {
    return this.#engine.take(at, this.#g1.pointBytes) as unknown as G1
  }

  #takeG2(at: number, lines: Int32Array | undefined): G2 {
    const point: Point2 = { words: this.#engine.take(at, this.#g2.pointBytes), lines }
    return point as unknown as G2
  }

  #takeGt(at: number): Gt {
    return this.#engine.take(at, TWELVE_BYTES) as unknown as Gt
  }
}

/** @throws WebAssembly.CompileError where there is no WebAssembly with vectors */
export function wasmCurve(): Curve {
  return new WasmCurve(new Bls12381Engine())
}
