/**
 * BLS12-381 in WebAssembly: an instance of the module with its memory. Everything here is for verification, of what is
 * public; it does not take constant time, so nothing secret may go through it.
 */
import { frobeniusFactors } from './frobenius.ts'
import { hasFusedMultiplyAdd } from './fusedMultiplyAdd.ts'
import {
  COORDINATE_LENGTH,
  ELEMENT_BYTES,
  FIELD_PRIME,
  FLOAT_LIMBS,
  INTEGER_LIMBS,
  type LimbForm,
  MONTGOMERY,
  PAIR_BYTES,
  toLimbs,
} from './limbs.ts'
import { type Bls12381Functions, type Bls12381Module, bls12381Module } from './module.ts'

const PAGE = 65_536

interface Compiled {
  readonly module: WebAssembly.Module
  readonly layout: Bls12381Module
}

const compiled = new Map<LimbForm, Compiled>()

function compile(form: LimbForm): Compiled {
  let known = compiled.get(form)
  if (known === undefined) {
    const layout = bls12381Module(form)
    known = { module: new WebAssembly.Module(layout.bytes), layout }
    compiled.set(form, known)
  }
  return known
}

let fastest: LimbForm | undefined

/** The form that is fastest here: doubles where products are added without being rounded first. */
function fastestLimbs(): LimbForm {
  fastest ??= hasFusedMultiplyAdd() ? FLOAT_LIMBS : INTEGER_LIMBS
  return fastest
}

/** Not re-entrant. Offsets are in bytes; places that are allocated are not cleared. */
export class Bls12381Engine {
  readonly call: Bls12381Functions
  readonly #form: LimbForm
  readonly #memory: WebAssembly.Memory
  #words: Int32Array
  /** The memory as limbs. */
  #limbs: Int32Array | Float64Array
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
  constructor(form: LimbForm = fastestLimbs()) {
    const { module, layout } = compile(form)
    this.#form = form
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil(layout.end / PAGE) })
    this.#words = new Int32Array(this.#memory.buffer)
    this.#limbs = this.#limbView()
    this.put(layout.constants, layout.constantWords)
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
      this.#limbs = this.#limbView()
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
    const limbs = this.#limbs
    const { bits: limbBits } = this.#form
    let limb = this.#limbIndex(place)
    let bits = 0
    let pending = 0
    for (let i = COORDINATE_LENGTH - 1; i >= 0; i--) {
      const byte = bytes[i] as number
      const room = limbBits - bits
      if (room > 8) {
        pending += byte * 2 ** bits
        bits += 8
      } else {
        limbs[limb++] = pending + (byte % 2 ** room) * 2 ** bits
        pending = byte >>> room
        bits = 8 - room
      }
    }
    limbs[limb] = pending
    this.call.fpMul(place, place, this.#square)
  }

  /** The number from 0 to p-1; of a sum of up to 15. */
  readNumber(place: number): bigint {
    this.call.fpMul(this.#spare, place, this.#unit)
    const limb = this.#limbIndex(this.#spare)
    const { count, bits } = this.#form
    let value = 0n
    for (let i = count - 1; i >= 0; i--) value = (value << BigInt(bits)) + BigInt(this.#limbs[limb + i] as number)
    return value < 0n ? value + FIELD_PRIME : value
  }

  /** Whether a reduced element, or twice one, is zero. */
  isZero(place: number): boolean {
    const word = place / 4
    for (let i = 0; i < this.#form.bytes / 4; i++) if (this.#words[word + i] !== 0) return false
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
    this.clear(place, ELEMENT_BYTES)
    this.#limbs.set(toLimbs(value, this.#form), this.#limbIndex(place))
  }

  #limbView(): Int32Array | Float64Array {
    const { buffer } = this.#memory
    return this.#form === FLOAT_LIMBS ? new Float64Array(buffer) : new Int32Array(buffer)
  }

  #limbIndex(place: number): number {
    return place / this.#limbs.BYTES_PER_ELEMENT
  }
}
