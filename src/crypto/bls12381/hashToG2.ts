/**
 * Bytes hashed to G2: suite BLS12381G2_XMD:SHA-256_SSWU_RO_ of RFC 9380. What is hashed is public; it takes no constant time.
 *
 *   bytes -> two elements of Fp2 -> two points of E': y^2 = x^3 + A x + B -> of the twist (an isogeny) -> sum -> of order r
 * @see RFC 9380 sections 5.2, 5.3.1, 6.6.3, 8.8.2, appendices E.3 (isogeny) and G.3 (cofactor); Budroni, Pintore, "Efficient
 *   hash maps to G2 on BLS curves"
 */
import { bytesToBigInt, concatBytes, utf8 } from '../../base/bytes.ts'
import { sha256 } from '../hashes.ts'
import type { Bls12381Engine } from './engine.ts'
import { invertAllFp2, invertFp2, normOf, squareRootsByNorm, squareRootsFp, type Two } from './fieldRoots.ts'
import type { G2Group } from './g2.ts'
import { ELEMENT_BYTES, FIELD_PRIME, PAIR_BYTES } from './limbs.ts'

const HASH_BYTES = 32
const SHA256_BLOCK_BYTES = 64
/** Bytes that an element of Fp is reduced from. */
const DRAW_BYTES = 64
const DRAWS = 4

/** Real part, and imaginary part. */
type Element = readonly [bigint, bigint]
/** What a message is hashed to first. */
export type Elements = readonly [Element, Element]

/** Two elements u, with t = Z u^2 and the x that is tried first. */
interface Start {
  readonly elements: Elements
  readonly us: Two
  readonly ts: Two
  readonly xs: Two
}

/** A and B of E', and Z of the map. */
const CURVE_A: Element = [0n, 240n]
const CURVE_B: Element = [1012n, 1012n]
const MAP_Z: Element = [FIELD_PRIME - 2n, FIELD_PRIME - 1n]
/** Norm of Z. */
const NORM_Z = 5n

/**
 * The isogeny's numerators, lowest coefficient first. Both denominators are powers of one number, x + 6 - 6 u: its square and
 * its cube, so that it is the Z of a Jacobian point.
 * @see RFC 9380 appendix E.3
 */
const X_NUMERATOR: readonly Element[] = [
  [
    0x5c759507e8e333ebb5b7a9a47d7ed8532c52d39fd3a042a88b58423c50ae15d5c2638e343d9c71c6238aaaaaaaa97d6n,
    0x5c759507e8e333ebb5b7a9a47d7ed8532c52d39fd3a042a88b58423c50ae15d5c2638e343d9c71c6238aaaaaaaa97d6n,
  ],
  [0n, 0x11560bf17baa99bc32126fced787c88f984f87adf7ae0c7f9a208c6b4f20a4181472aaa9cb8d555526a9ffffffffc71an],
  [
    0x11560bf17baa99bc32126fced787c88f984f87adf7ae0c7f9a208c6b4f20a4181472aaa9cb8d555526a9ffffffffc71en,
    0x8ab05f8bdd54cde190937e76bc3e447cc27c3d6fbd7063fcd104635a790520c0a395554e5c6aaaa9354ffffffffe38dn,
  ],
  [0x171d6541fa38ccfaed6dea691f5fb614cb14b4e7f4e810aa22d6108f142b85757098e38d0f671c7188e2aaaaaaaa5ed1n, 0n],
]
const Y_NUMERATOR: readonly Element[] = [
  [
    0x1530477c7ab4113b59a4c18b076d11930f7da5d4a07f649bf54439d87d27e500fc8c25ebf8c92f6812cfc71c71c6d706n,
    0x1530477c7ab4113b59a4c18b076d11930f7da5d4a07f649bf54439d87d27e500fc8c25ebf8c92f6812cfc71c71c6d706n,
  ],
  [0n, 0x5c759507e8e333ebb5b7a9a47d7ed8532c52d39fd3a042a88b58423c50ae15d5c2638e343d9c71c6238aaaaaaaa97ben],
  [
    0x11560bf17baa99bc32126fced787c88f984f87adf7ae0c7f9a208c6b4f20a4181472aaa9cb8d555526a9ffffffffc71cn,
    0x8ab05f8bdd54cde190937e76bc3e447cc27c3d6fbd7063fcd104635a790520c0a395554e5c6aaaa9354ffffffffe38fn,
  ],
  [0x124c9ad43b6cf79bfbf7043de3811ad0761b0f37a1e26286b0e977c69aa274524e79097a56dc4bd9e1b371c71c718b10n, 0n],
]
const DENOMINATOR: Element = [6n, FIELD_PRIME - 6n]

/** `length` bytes of a message under a tag. @see RFC 9380 section 5.3.1 expand_message_xmd */
function expandMessage(message: Uint8Array, tag: Uint8Array, length: number): Uint8Array {
  const suffix = concatBytes(tag, Uint8Array.of(tag.length))
  const lengthBytes = Uint8Array.of(length >> 8, length & 0xff, 0)
  const first = sha256(concatBytes(new Uint8Array(SHA256_BLOCK_BYTES), message, lengthBytes, suffix))
  const out = new Uint8Array(length)
  let block = new Uint8Array(HASH_BYTES)
  for (let at = 0, count = 1; at < length; at += HASH_BYTES, count++) {
    const mixed = block.map((byte, i) => byte ^ (first[i] as number))
    block = Uint8Array.from(sha256(concatBytes(mixed, Uint8Array.of(count), suffix)))
    out.set(block, at)
  }
  return out
}

/** Hashes messages under one domain's tag. */
export class HashToG2 {
  readonly #engine: Bls12381Engine
  readonly #g2: G2Group
  readonly #tag: Uint8Array
  readonly #a: number
  readonly #b: number
  readonly #z: number
  /** -B/A, and B/(Z A) for the element that the map has no other point for. */
  readonly #minusBOverA: number
  readonly #exceptional: number
  /** A root of -5: 5 is no square, and -1 neither. */
  readonly #rootOfMinusNormZ: number
  readonly #xNumerator: readonly number[]
  readonly #yNumerator: readonly number[]
  readonly #denominator: number

  /** @param tag - the domain's, at most 255 characters */
  constructor(engine: Bls12381Engine, g2: G2Group, tag: string) {
    this.#engine = engine
    this.#g2 = g2
    this.#tag = utf8(tag)
    this.#a = this.#write(CURVE_A)
    this.#b = this.#write(CURVE_B)
    this.#z = this.#write(MAP_Z)
    this.#minusBOverA = engine.allocate(PAIR_BYTES)
    this.#exceptional = engine.allocate(PAIR_BYTES)
    this.#rootOfMinusNormZ = engine.allocate(PAIR_BYTES)
    this.#xNumerator = X_NUMERATOR.map((coefficient) => this.#write(coefficient))
    this.#yNumerator = Y_NUMERATOR.map((coefficient) => this.#write(coefficient))
    this.#denominator = this.#write(DENOMINATOR)
    const { call } = engine
    engine.within(() => {
      const inverse = engine.allocate(PAIR_BYTES)
      const product = engine.allocate(PAIR_BYTES)
      invertFp2(engine, inverse, this.#a)
      call.fp2Mul(product, this.#b, inverse)
      call.fp2Negate(this.#minusBOverA, product)
      invertFp2(engine, inverse, this.#z)
      call.fp2Mul(this.#exceptional, product, inverse)
      const norms = this.#write([FIELD_PRIME - NORM_Z, FIELD_PRIME - NORM_Z])
      squareRootsFp(engine, this.#rootOfMinusNormZ, norms)
    })
  }

  /** outs = the points of G2, affine or infinity, of messages. Of 16 at once each takes three quarters of the time. */
  hash(outs: readonly number[], messages: readonly Uint8Array[]): void {
    const all = messages.map((message): Elements => {
      const draws = expandMessage(message, this.#tag, DRAWS * DRAW_BYTES)
      const [u0, v0, u1, v1] = Array.from({ length: DRAWS }, (_, i) => {
        return bytesToBigInt(draws.subarray(i * DRAW_BYTES, (i + 1) * DRAW_BYTES)) % FIELD_PRIME
      }) as [bigint, bigint, bigint, bigint]
      return [
        [u0, v0],
        [u1, v1],
      ]
    })
    this.map(outs, all)
  }

  /** outs = the points of G2, affine or infinity, of two elements of Fp2 each. */
  map(outs: readonly number[], all: readonly Elements[]): void {
    const engine = this.#engine
    engine.within(() => {
      const points: Two = [engine.allocate(this.#g2.pointBytes), engine.allocate(this.#g2.pointBytes)]
      const sum = engine.allocate(this.#g2.pointBytes)
      for (const [i, start] of this.#starts(all).entries()) {
        this.#mapTwo(points, start)
        this.#g2.add(sum, points[0], points[1])
        this.#clearCofactor(outs[i] as number, sum)
      }
      this.#g2.toAffine(...outs.filter((out) => !this.#g2.isInfinity(out)))
    })
  }

  #write([real, imaginary]: Element): number {
    const place = this.#engine.allocate(PAIR_BYTES)
    this.#engine.writeNumber(place, real)
    this.#engine.writeNumber(place + ELEMENT_BYTES, imaginary)
    return place
  }

  /**
   * outs = Jacobian points of the twist, of two elements of Fp2: both at once, since roots are drawn two at a time.
   *
   * With t = Z u^2: x = -B/A (1 + 1/(t^2 + t)), and where g(x) = x^3 + A x + B is no square, t x, for which g(t x) =
   * t^3 g(x). An element of Fp2 is a square if its norm is one, and of n, which is none, n^((p+1)/4) is a root of -n; times
   * one of -5, it is a root of 5 n: so the root of t^3 g(x)'s norm is known without drawing another.
   */
  #mapTwo(outs: Two, { elements, us, ts, xs }: Start): void {
    const engine = this.#engine
    const { call } = engine
    const pair = (): number => engine.allocate(PAIR_BYTES)
    engine.within(() => {
      const [gs, ys] = [[pair(), pair()] as const, [pair(), pair()] as const]
      const [norms, roots, spare] = [pair(), pair(), pair()]
      for (const i of [0, 1] as const) {
        this.#rightSide(gs[i], xs[i])
        normOf(engine, norms + i * ELEMENT_BYTES, gs[i])
      }
      const isSquare = squareRootsFp(engine, roots, norms)
      for (const i of [0, 1] as const) {
        if (isSquare[i]) continue
        call.fp2Mul(xs[i], xs[i], ts[i])
        call.fp2Sqr(spare, ts[i])
        call.fp2Mul(spare, spare, ts[i])
        call.fp2Mul(gs[i], gs[i], spare)
        // norm(t^3 g) = norm(t)^2 norm(u)^2 5 norm(g).
        const root = roots + i * ELEMENT_BYTES
        call.fpMul(root, root, this.#rootOfMinusNormZ)
        for (const factor of [ts[i], us[i]]) {
          normOf(engine, spare, factor)
          call.fpMul(root, root, spare)
        }
      }
      squareRootsByNorm(engine, ys, gs, roots)
      for (const i of [0, 1] as const) {
        if (this.#signOf(ys[i]) !== signOf(elements[i])) call.fp2Negate(ys[i], ys[i])
        this.#toTwist(outs[i], xs[i], ys[i])
      }
    })
  }

  #starts(all: readonly Elements[]): Start[] {
    const { call } = this.#engine
    const pair = (): number => this.#engine.allocate(PAIR_BYTES)
    const starts = all.map((elements): Start => {
      const us: Two = [this.#write(elements[0]), this.#write(elements[1])]
      const [ts, xs] = [[pair(), pair()] as const, [pair(), pair()] as const]
      for (const i of [0, 1] as const) {
        call.fp2Sqr(ts[i], us[i])
        call.fp2Mul(ts[i], ts[i], this.#z)
      }
      return { elements, us, ts, xs }
    })
    this.#firstX(
      starts.flatMap(({ xs }) => xs),
      starts.flatMap(({ ts }) => ts),
    )
    return starts
  }

  /** xs = -B/A (1 + 1/(t^2 + t)), by one inversion. */
  #firstX(xs: readonly number[], ts: readonly number[]): void {
    const engine = this.#engine
    const { call } = engine
    const isZero = xs.map((x, i) => {
      call.fp2Sqr(x, ts[i] as number)
      call.fp2Add(x, x, ts[i] as number)
      call.fp2Reduce(x, x)
      const zero = engine.isZeroFp2(x)
      if (zero) engine.copy(x, engine.one, PAIR_BYTES)
      return zero
    })
    invertAllFp2(engine, xs)
    for (const [i, x] of xs.entries()) {
      if (isZero[i]) {
        engine.copy(x, this.#exceptional, PAIR_BYTES)
        continue
      }
      call.fpAdd(x, x, engine.one)
      call.fp2Mul(x, x, this.#minusBOverA)
    }
  }

  /** g = x^3 + A x + B. */
  #rightSide(g: number, x: number): void {
    const { call } = this.#engine
    call.fp2Sqr(g, x)
    call.fp2Add(g, g, this.#a)
    call.fp2Mul(g, g, x)
    call.fp2Add(g, g, this.#b)
    call.fp2Reduce(g, g)
  }

  /** An affine point of E' on the twist. */
  #toTwist(out: number, x: number, y: number): void {
    const engine = this.#engine
    const { call } = engine
    const z = out + 2 * PAIR_BYTES
    this.#polynomial(out, this.#xNumerator, x)
    this.#polynomial(out + PAIR_BYTES, this.#yNumerator, x)
    call.fp2Mul(out + PAIR_BYTES, out + PAIR_BYTES, y)
    call.fp2Add(z, x, this.#denominator)
    call.fp2Reduce(z, z)
  }

  #polynomial(out: number, coefficients: readonly number[], x: number): void {
    const { call } = this.#engine
    const top = coefficients.length - 1
    this.#engine.copy(out, coefficients[top] as number, PAIR_BYTES)
    for (let i = top - 1; i >= 0; i--) {
      call.fp2Mul(out, out, x)
      call.fp2Add(out, out, coefficients[i] as number)
    }
    call.fp2Reduce(out, out)
  }

  /** out = (z^2 - z - 1) P + (z - 1) psi(P) + psi^2(2 P). */
  #clearCofactor(out: number, point: number): void {
    const engine = this.#engine
    const g2 = this.#g2
    engine.within(() => {
      const fresh = (): number => engine.allocate(g2.pointBytes)
      const [multiple, image, sum, rest, other] = [fresh(), fresh(), fresh(), fresh(), fresh()]
      const add = (to: number, term: number): void => {
        g2.add(other, to, term)
        engine.copy(to, other, g2.pointBytes)
      }
      g2.timesParameter(multiple, point)
      g2.psi(image, point)
      // z (z P + psi(P)).
      g2.add(sum, multiple, image)
      g2.timesParameter(rest, sum)
      g2.negate(multiple, multiple)
      add(rest, multiple)
      g2.negate(image, image)
      add(rest, image)
      g2.negate(sum, point)
      add(rest, sum)
      g2.double(sum, point)
      g2.psi(image, sum)
      g2.psi(sum, image)
      g2.add(out, rest, sum)
    })
  }

  #signOf(place: number): number {
    return signOf([this.#engine.readNumber(place), this.#engine.readNumber(place + ELEMENT_BYTES)])
  }
}

/** @see RFC 9380 section 4.1 sgn0 */
function signOf([real, imaginary]: Element): number {
  return Number((real === 0n ? imaginary : real) & 1n)
}
