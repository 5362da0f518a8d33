/**
 * Parents of a node in the layer before: eight, by a permutation of all edges.
 * @see storage-proofs-porep stacked/vanilla/graph.rs correspondent; storage-proofs-core crypto/feistel.rs
 */
import { concatBytes, utf8 } from '../../base/bytes.ts'
import { type FeistelHash, feistelHash } from '../../crypto/feistelHash.ts'
import { sha256 } from '../../crypto/hashes.ts'
import type { SealProofType } from './sealProofType.ts'

const DOMAIN = utf8('Filecoin_Feistel')
const ROUNDS = 3
const DEGREE = 8

/** Makes parents for one PoRep ID and sector size. */
export class ExpanderParents {
  readonly #edges: number
  readonly #half: number
  readonly #isV1: boolean
  /** Of each round the key: eight bytes, as they are hashed behind the right half. */
  readonly #rounds: readonly (readonly [low: number, high: number])[]
  readonly #hash: FeistelHash = feistelHash()

  constructor({ size, porepId, isV1 }: SealProofType) {
    this.#edges = size.nodes * DEGREE
    this.#half = 2 ** Math.max(1, Math.ceil(Math.log2(this.#edges) / 2))
    this.#isV1 = isV1
    const keys = sha256(concatBytes(DOMAIN, porepId))
    // Big-endian in 64 bits.
    this.#rounds = Array.from({ length: ROUNDS }, (_, i) => {
      const words = new DataView(keys.slice(8 * i, 8 * i + 8).reverse().buffer)
      return [words.getInt32(0, true), words.getInt32(4, true)]
    })
  }

  /** Eight nodes. */
  of(node: number): number[] {
    return Array.from({ length: DEGREE }, (_, i) => {
      const permuted = this.#permute(node * DEGREE + i)
      // V1 cuts to 32 bits, which changes something from 32 GiB on.
      return Math.floor((this.#isV1 ? permuted >>> 0 : permuted) / DEGREE)
    })
  }

  /** Feistel network over the next power of four, walked until it falls below the number of edges. */
  #permute(edge: number): number {
    let value = edge
    do {
      let left = Math.floor(value / this.#half)
      let right = value % this.#half
      for (const [low, high] of this.#rounds) {
        const mixed = left ^ this.#mix(right, low, high)
        left = right
        right = mixed
      }
      value = left * this.#half + right
    } while (value >= this.#edges)
    return value
  }

  /** @param right - below 2^24, so that the low bytes of the hash's first eight (big-endian) decide */
  #mix(right: number, low: number, high: number): number {
    // Big-endian in 64 bits: its lowest byte is the last of eight.
    const turned = (right << 24) | ((right & 0xff00) << 8) | ((right >>> 8) & 0xff00)
    const hash = this.#hash(0, turned, low, high)
    return (((hash & 0xff00) << 8) | ((hash >>> 8) & 0xff00) | (hash >>> 24)) % this.#half
  }
}
