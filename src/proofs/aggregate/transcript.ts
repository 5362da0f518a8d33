/**
 * Challenges of an aggregate: hashes of all that was said before.
 * @see bellperson groth16/aggregate/transcript.rs; blstrs serde_impl.rs
 */
import { concatBytes, utf8 } from '../../base/bytes.ts'
import { sha256 } from '../../crypto/hashes.ts'
import type { Curve, G1, G2, Gt } from '../curve/curve.ts'
import { littleEndian, ORDER, scalarBytes } from '../field.ts'

const PREFIX = 'snarkpack-v1'

function bigEndian64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setUint32(4, value)
  return bytes
}

/** What was said so far. Verifier and prover say the same in the same order, or the challenges differ. */
export class Transcript {
  readonly #curve: Curve
  readonly #parts: Uint8Array[]

  constructor(curve: Curve, tag: string) {
    this.#curve = curve
    this.#parts = [utf8(PREFIX), utf8(tag)]
  }

  scalar(value: bigint): this {
    return this.#add(scalarBytes(value))
  }

  g1(...points: readonly G1[]): this {
    return this.#add(...points.map((point) => this.#curve.writeG1(point)))
  }

  g2(...points: readonly G2[]): this {
    return this.#add(...points.map((point) => this.#curve.writeG2(point)))
  }

  gt(...values: readonly Gt[]): this {
    return this.#add(...values.map((value) => this.#curve.writeGt(value)))
  }

  /** Preceded by their number, little-endian in 64 bits. */
  bytes(bytes: Uint8Array): this {
    return this.#add(bigEndian64(bytes.length).reverse(), bytes)
  }

  /** The first hash that is below r and neither zero nor one. */
  challenge(): bigint {
    for (let number = 1; ; number++) {
      this.#add(bigEndian64(number))
      const digest = sha256(concatBytes(...this.#parts))
      digest[31] = (digest[31] as number) & 0x7f
      const value = littleEndian(digest)
      if (value > 1n && value < ORDER) return value
    }
  }

  #add(...parts: readonly Uint8Array[]): this {
    this.#parts.push(...parts)
    return this
  }
}
