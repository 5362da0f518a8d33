/**
 * Parents of a node in the depth-robust graph of a layer: six in the same layer.
 * @see storage-proofs-core drgraph.rs BucketGraph::parents
 */
import { chacha8 } from '@noble/ciphers/chacha.js'
import { concatBytes, utf8 } from '../../base/bytes.ts'
import { sha256 } from '../../crypto/hashes.ts'
import type { SealProofType } from './sealProofType.ts'

const DOMAIN = utf8('Filecoin_DRSample')
const SEED_LENGTH = 28
/** Drawn parents; the node before is one more. */
const DRAWN = 5
const NONCE = new Uint8Array(12)
/** Two numbers of 64 bits for each drawn parent. */
const STREAM = new Uint8Array(16 * DRAWN)

/** Makes parents for one PoRep ID. */
export class DrgParents {
  readonly #key = new Uint8Array(32)
  readonly #previousFirst: boolean

  constructor({ porepId, isV1 }: SealProofType) {
    this.#key.set(sha256(concatBytes(DOMAIN, porepId)).subarray(0, SEED_LENGTH))
    this.#previousFirst = !isV1
  }

  /** @param node - below 2^32 @returns six nodes; the one before comes first, in V1 last */
  of(node: number): number[] {
    if (node < 2) return [0, 0, 0, 0, 0, 0]
    new DataView(this.#key.buffer).setUint32(SEED_LENGTH, node, true)
    const stream = chacha8(this.#key, NONCE, STREAM)
    const words = new DataView(stream.buffer, stream.byteOffset)
    const draw = (index: number, below: number): number => Number(words.getBigUint64(8 * index, true) % BigInt(below))
    // The graph has five times the nodes, each of one parent; the parents of five are those of one node.
    const single = node * DRAWN
    const buckets = Math.ceil(Math.log2(single))
    const parents: number[] = []
    for (let i = 0; i < DRAWN; i++) {
      const large = Math.min(single, 2 ** (draw(2 * i, buckets) + 1))
      const small = Math.max(2, Math.floor(large / 2))
      const distance = small + draw(2 * i + 1, large - small + 1)
      const parent = Math.floor((single - distance) / DRAWN)
      parents.push(parent === node ? node - 1 : parent)
    }
    return this.#previousFirst ? [node - 1, ...parents] : [...parents, node - 1]
  }
}
