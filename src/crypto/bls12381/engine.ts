/**
 * BLS12-381 in WebAssembly: an instance of the module with its memory. Everything here is for verification, of what is
 * public; it does not take constant time, so nothing secret may go through it.
 */
import { frobeniusFactors } from './frobenius.ts'
import {
  COORDINATE_LENGTH,
  ELEMENT_BYTES,
  FIELD_PRIME,
  LIMB_BITS,
  LIMBS,
  MONTGOMERY,
  PAIR_BYTES,
  toLimbs,
} from './limbs.ts'
import { type Bls12381Functions, bls12381Module } from './module.ts'

const PAGE = 65_536
/** Words of an element. */
const ELEMENT_WORDS = ELEMENT_BYTES / 4
const SHIFT = BigInt(LIMB_BITS)

let compiled: { readonly module: WebAssembly.Module; readonly layout: ReturnType<typeof bls12381Module> } | undefined

function compile(): NonNullable<typeof compiled> {
  if (compiled === undefined) {
    const layout = bls12381Module()
    compiled = { module: new WebAssembly.Module(layout.bytes), layout }
  }
  return compiled
}

/** Not re-entrant. Offsets are in bytes; places that are allocated are not cleared. */
export class Bls12381Engine {
  readonly call: Bls12381Functions
  readonly #memory: WebAssembly.Memory
  #words: Int32Array
  #next: number
  /** Zero, three elements of Fp2. */
  readonly zero: number
  /** One in Fp; so also in Fp2 and Fp12. */
  readonly one: number
  /** 1/2 in Fp. */
  readonly half: number
  readonly #factors: number
  readonly #square: number
  readonly #unit: number
  readonly #spare: number

  /** @throws WebAssembly.CompileError where there are no vector instructions */
  constructor() {
    const { module, layout } = compile()
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil(layout.end / PAGE) })
    this.#words = new Int32Array(this.#memory.buffer)
    this.call = new WebAssembly.Instance(module, { env: { memory: this.#memory } })
      .exports as unknown as Bls12381Functions
    this.zero = layout.zero
    this.#factors = layout.factors
    this.#next = layout.end
    this.#square = this.allocate(ELEMENT_BYTES)
    this.#unit = this.allocate(ELEMENT_BYTES)
    this.#spare = this.allocate(PAIR_BYTES)
    this.one = this.allocate(6 * PAIR_BYTES)
    this.half = this.allocate(ELEMENT_BYTES)
    this.clear(this.#square, this.#next - this.#square)
    this.#setLimbs(this.#square, (MONTGOMERY * MONTGOMERY) % FIELD_PRIME)
    this.#setLimbs(this.#unit, 1n)
    this.writeNumber(this.one, 1n)
    this.writeNumber(this.half, (FIELD_PRIME + 1n) / 2n)
    for (const [i, [real, imaginary]] of frobeniusFactors().entries()) {
      this.writeNumber(layout.factors + i * PAIR_BYTES, real)
      this.writeNumber(layout.factors + i * PAIR_BYTES + ELEMENT_BYTES, imaginary)
    }
  }

  /** (1 + u)^(k (p - 1) / 6) for k from 0 to 5. */
  factorOf(power: number): number {
    return this.#factors + [0, 2, 4, 1, 3, 5].indexOf(power) * PAIR_BYTES
  }

  /** The memory, in words of 32 bits; another one after {@link allocate}. */
  get words(): Int32Array {
    return this.#words
  }

  /** Room for so many bytes, a multiple of 64; until {@link within} that it was made in ends. */
  allocate(bytes: number): number {
    const place = this.#next
    this.#next += bytes
    const missing = this.#next - this.#memory.buffer.byteLength
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / PAGE))
      this.#words = new Int32Array(this.#memory.buffer)
    }
    return place
  }

  /** Runs `work`; what it allocates is free afterwards. */
  within<T>(work: () => T): T {
    const before = this.#next
    try {
      return work()
    } finally {
      this.#next = before
    }
  }

  copy(to: number, from: number, bytes: number): void {
    this.#words.copyWithin(to / 4, from / 4, (from + bytes) / 4)
  }

  clear(place: number, bytes: number): void {
    this.#words.fill(0, place / 4, (place + bytes) / 4)
  }

  /** A copy of what lies there. */
  take(place: number, bytes: number): Int32Array {
    return this.#words.slice(place / 4, (place + bytes) / 4)
  }

  put(place: number, words: Int32Array): void {
    this.#words.set(words, place / 4)
  }

  /** Writes a number below p. */
  writeNumber(place: number, value: bigint): void {
    this.#setLimbs(place, value)
    this.call.fpMul(place, place, this.#square)
  }

  /** Writes 48 bytes, big-endian, a number below p. */
  writeBytes(place: number, bytes: Uint8Array): void {
    const words = this.#words
    let word = place / 4
    let bits = 0
    let pending = 0
    for (let i = COORDINATE_LENGTH - 1; i >= 0; i--) {
      pending += (bytes[i] as number) * 2 ** bits
      bits += 8
      if (bits < LIMB_BITS) continue
      words[word++] = pending % 2 ** LIMB_BITS
      pending = Math.floor(pending / 2 ** LIMB_BITS)
      bits -= LIMB_BITS
    }
    words[word] = pending
    this.call.fpMul(place, place, this.#square)
  }

  /** The number from 0 to p-1; of a sum of up to 15. */
  readNumber(place: number): bigint {
    this.call.fpMul(this.#spare, place, this.#unit)
    const word = this.#spare / 4
    let value = 0n
    for (let i = LIMBS - 1; i >= 0; i--) value = (value << SHIFT) + BigInt(this.#words[word + i] as number)
    return value < 0n ? value + FIELD_PRIME : value
  }

  /** Whether a reduced element, or twice one, is zero. */
  isZero(place: number): boolean {
    const word = place / 4
    for (let i = 0; i < LIMBS; i++) if (this.#words[word + i] !== 0) return false
    return true
  }

  /** As {@link isZero}, in Fp2. */
  isZeroFp2(place: number): boolean {
    return this.isZero(place) && this.isZero(place + ELEMENT_BYTES)
  }

  /** Whether so many elements of Fp are the same numbers; sums of up to 7. */
  equal(a: number, b: number, elements: number): boolean {
    for (let at = 0; at < elements * ELEMENT_BYTES; at += ELEMENT_BYTES) {
      this.call.fpSub(this.#spare, a + at, b + at)
      this.call.fpMul(this.#spare, this.#spare, this.one)
      if (!this.isZero(this.#spare)) return false
    }
    return true
  }

  #setLimbs(place: number, value: bigint): void {
    const word = place / 4
    this.#words.fill(0, word, word + ELEMENT_WORDS)
    this.#words.set(toLimbs(value), word)
  }
}
