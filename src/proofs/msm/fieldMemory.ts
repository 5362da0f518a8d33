/** Field elements in the memory of one instance of the module: reading and writing them. */
import { FIELD_PRIME } from '../../crypto/bls12381/limbs.ts'
import {
  ELEMENT_BYTES,
  type FieldFunctions,
  fieldModule,
  LIMB_BITS,
  LIMBS,
  MONTGOMERY,
  OWN_ELEMENTS,
  toLimbs,
} from './fieldCode.ts'

const PAGE = 65_536
const PRIME_LIMBS = toLimbs(FIELD_PRIME)

let compiled: WebAssembly.Module | undefined

/** An instance with room for `elements`. Offsets are in bytes; the first two elements are its own (R^2 and one). */
export class FieldMemory {
  readonly field: FieldFunctions
  readonly #words: Uint32Array
  #next = 0
  readonly #square: number
  readonly #one: number

  constructor(elements: number) {
    const memory = new WebAssembly.Memory({
      initial: Math.ceil(((elements + 2 + OWN_ELEMENTS) * ELEMENT_BYTES) / PAGE),
    })
    compiled ??= new WebAssembly.Module(fieldModule())
    const instance = new WebAssembly.Instance(compiled, { env: { memory } })
    this.field = instance.exports as unknown as FieldFunctions
    this.#words = new Uint32Array(memory.buffer)
    this.#square = this.allocate(1)
    this.#one = this.allocate(1)
    this.#set(this.#square, (MONTGOMERY * MONTGOMERY) % FIELD_PRIME)
    this.#set(this.#one, 1n)
    this.allocate(OWN_ELEMENTS)
  }

  /** Room for elements, zero at first. */
  allocate(elements: number): number {
    const at = this.#next
    this.#next += elements * ELEMENT_BYTES
    return at
  }

  /** Writes a number below p, in Montgomery form. */
  write(at: number, value: bigint): void {
    this.#set(at, value)
    this.field.mul(at, at, this.#square)
  }

  /** As {@link write}, of 48 bytes, big-endian. */
  writeBytes(at: number, bytes: Uint8Array): void {
    const word = at / 4
    this.#words.fill(0, word, word + LIMBS)
    let bits = 0
    let pending = 0
    let limb = word
    for (let i = bytes.length - 1; i >= 0; i--) {
      pending += (bytes[i] as number) * 2 ** bits
      bits += 8
      if (bits < LIMB_BITS) continue
      this.#words[limb++] = pending % 2 ** LIMB_BITS
      pending = Math.floor(pending / 2 ** LIMB_BITS)
      bits -= LIMB_BITS
    }
    if (bits > 0) this.#words[limb] = pending
    this.field.mul(at, at, this.#square)
  }

  /** The number, reduced, out of Montgomery form. `spare` is overwritten. */
  read(at: number, spare: number): bigint {
    this.field.mul(spare, at, this.#one)
    let value = 0n
    for (let i = LIMBS - 1; i >= 0; i--) {
      value = (value << BigInt(LIMB_BITS)) | BigInt(this.#words[spare / 4 + i] as number)
    }
    return value % FIELD_PRIME
  }

  /** Whether a product (below 1.5 p) is zero modulo p. */
  isZero(at: number): boolean {
    const word = at / 4
    const low = this.#words[word]
    if (low !== 0 && low !== PRIME_LIMBS[0]) return false
    const wanted = low === 0 ? undefined : PRIME_LIMBS
    for (let i = 1; i < LIMBS; i++) if (this.#words[word + i] !== (wanted?.[i] ?? 0)) return false
    return true
  }

  copy(to: number, from: number, elements: number): void {
    this.#words.copyWithin(to / 4, from / 4, (from + elements * ELEMENT_BYTES) / 4)
  }

  clear(at: number, elements: number): void {
    this.#words.fill(0, at / 4, at / 4 + elements * LIMBS)
  }

  #set(at: number, value: bigint): void {
    this.#words.set(toLimbs(value), at / 4)
  }
}
