/**
 * Parents of a node in the layer before: eight, by a permutation of all edges.
 * @see storage-proofs-porep stacked/vanilla/graph.rs correspondent; storage-proofs-core crypto/feistel.rs
 */
import { concatBytes, utf8 } from '../../base/bytes.ts'
import { blake2b512 } from '../../crypto/blake2b.ts'
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
  /** Of each round what is hashed: the right half, then the round's key, both big-endian in 64 bits. */
  readonly #rounds: readonly Uint8Array[]

  constructor({ size, porepId, isV1 }: SealProofType) {
    this.#edges = size.nodes * DEGREE
    this.#half = 2 ** Math.max(1, Math.ceil(Math.log2(this.#edges) / 2))
    this.#isV1 = isV1
    const keys = sha256(concatBytes(DOMAIN, porepId))
    this.#rounds = Array.from({ length: ROUNDS }, (_, i) =>
      concatBytes(new Uint8Array(8), keys.slice(8 * i, 8 * i + 8).reverse()),
    )
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
      for (const round of this.#rounds) {
        const mixed = left ^ this.#mix(right, round)
        left = right
        right = mixed
      }
      value = left * this.#half + right
    } while (value >= this.#edges)
    return value
  }

  /** @param right - below 2^17, so that the low bytes of the hash's first eight decide */
  #mix(right: number, round: Uint8Array): number {
    round[5] = right >>> 16
    round[6] = right >>> 8
    round[7] = right
    const hash = blake2b512(round)
    return (((hash[5] as number) << 16) | ((hash[6] as number) << 8) | (hash[7] as number)) % this.#half
  }
}
