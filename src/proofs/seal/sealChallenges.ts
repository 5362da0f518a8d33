/**
 * Which nodes a seal is challenged for.
 * @see storage-proofs-porep stacked/vanilla/challenges.rs (interactive, synthetic), FIP-0059, FIP-0092
 */
import { chacha20 } from '@noble/ciphers/chacha.js'
import { concatBytes, utf8 } from '../../base/bytes.ts'
import { keyedBlake2b256 } from '../../crypto/blake2b.ts'
import { sha256 } from '../../crypto/hashes.ts'
import { littleEndian } from '../field.ts'
import type { SealProofType } from './sealProofType.ts'

const GENERATION = utf8('filecoin.io|PoRep|1|Synthetic|1|Generation')
const SELECTION = utf8('filecoin.io|PoRep|1|Synthetic|1|Selection')
const NON_INTERACTIVE = utf8('filecoin.io|PoRep|1|NonInteractive|1')
/** Nonce of both generators. */
const NONCE: Uint8Array = concatBytes(utf8('synth-porep'), Uint8Array.of(0))
/** Challenges of which a synthetic seal's are chosen. */
const SYNTHETIC_CHALLENGES = 2 ** 18
/** Bytes of a block of ChaCha20, and of a number drawn from it. */
const BLOCK = 64
const DRAWN = 32

/** What challenges are drawn from; each 32 bytes. */
export interface ChallengeSource {
  readonly replicaId: Uint8Array
  readonly commR: Uint8Array
  readonly seed: Uint8Array
}

/** Node of a drawn number of 256 bits: never the first. */
function nodeOf(drawn: Uint8Array, nodes: number): number {
  return Number(littleEndian(drawn) % BigInt(nodes - 1)) + 1
}

function stream(key: Uint8Array, block: number, length: number): Uint8Array {
  return chacha20(key, NONCE, new Uint8Array(length), undefined, block)
}

function synthetic({ size }: SealProofType, source: ChallengeSource, count: number): number[] {
  const { replicaId, commR, seed } = source
  const generation = keyedBlake2b256(GENERATION, concatBytes(replicaId, commR))
  const selection = keyedBlake2b256(SELECTION, concatBytes(replicaId, seed))
  const chosen = stream(selection, 0, 4 * count)
  const indices = new DataView(chosen.buffer, chosen.byteOffset)
  const among = Math.min(size.nodes, SYNTHETIC_CHALLENGES)
  return Array.from({ length: count }, (_, j) => {
    const at = (indices.getUint32(4 * j, true) % among) * DRAWN
    const block = stream(generation, Math.floor(at / BLOCK), BLOCK)
    return nodeOf(block.subarray(at % BLOCK, (at % BLOCK) + DRAWN), size.nodes)
  })
}

/** Challenged nodes of all partitions, one partition after the other. */
export function sealChallenges(type: SealProofType, source: ChallengeSource): number[] {
  const count = type.partitions * type.size.sealChallenges
  if (type.challenges === 'synthetic') return synthetic(type, source, count)
  const { replicaId, commR, seed } = source
  const prefix =
    type.challenges === 'interactive' ? concatBytes(replicaId, seed) : concatBytes(NON_INTERACTIVE, replicaId, commR)
  const input = concatBytes(prefix, new Uint8Array(4))
  const number = new DataView(input.buffer, prefix.length)
  return Array.from({ length: count }, (_, j) => {
    number.setUint32(0, j, true)
    return nodeOf(sha256(input), type.size.nodes)
  })
}
