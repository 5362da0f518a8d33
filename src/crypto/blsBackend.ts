/**
 * BLS12-381 behind one interface.
 *
 * Measured in Node 24 on one core: verification of one signature noble 26 ms, mcl-wasm 5.4 ms, own WebAssembly 2.0 ms (64 together,
 * of ten keys, 0.7 ms each); signing noble 16 ms, mcl-wasm 1.9 ms, with a point that our own WebAssembly hashed 1.5 ms.
 * mcl-wasm needs an asynchronous start (`initCrypto`); until then, and where that fails, noble answers.
 * (@chainsafe/blst fixes Ethereum's domain tag and cannot be used.)
 */

import { latin1 } from '../base/bytes.ts'

/** Hash-to-curve tag of signatures in G2: messages, blocks, VRF, chained drand. */
export const DST_G2 = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_'
/** Hash-to-curve tag of signatures in G1: drand quicknet. */
export const DST_G1 = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_'

/**
 * One implementation. Lengths of keys and signatures have been checked by `bls.ts`. Points are compressed in the
 * ZCash form; decoding checks field range, curve and subgroup. A point that does not decode makes a verification false.
 */
export interface BlsBackend {
  readonly name: string
  /** G1, 48 bytes; undefined when the key is zero or not below the order. @param secretKey - 32 bytes little-endian */
  publicKey(secretKey: Uint8Array): Uint8Array | undefined
  /**
   * G2, 96 bytes; undefined when the key is zero or not below the order.
   * @param point - that the message is hashed to, where it is known, which is half of the work: x.c0 | x.c1 | y.c0 | y.c1, 48
   * bytes each, little-endian
   */
  sign(message: Uint8Array, secretKey: Uint8Array, point?: Uint8Array): Uint8Array | undefined
  /**
   * Whether e(g1, signature) is the product of e(key i, H(message i)). As many keys as messages, at least one; a key
   * that is the point at infinity fails; a signature that is may pass only if the product is one. In steps of some 15 ms
   * with mcl; between two of them anything else may be done with the back end.
   */
  verifySteps(
    signature: Uint8Array,
    messages: readonly Uint8Array[],
    publicKeys: readonly Uint8Array[],
  ): Generator<undefined, boolean>
  /** Sum of signatures in G2; undefined when one does not decode. None gives infinity. */
  aggregate(signatures: readonly Uint8Array[]): Uint8Array | undefined
  /**
   * Whether every signature is by its key over its message, but for a chance of 2^-127: one product over all, each pair
   * raised to its weight. Equal keys share a pairing, so it pays where few keys signed much.
   * @param weights - little-endian, 16 bytes each, such as no signer could foresee
   */
  verifyTogether(
    signatures: readonly Uint8Array[],
    messages: readonly Uint8Array[],
    publicKeys: readonly Uint8Array[],
    weights: readonly Uint8Array[],
  ): boolean
  /**
   * Sum of keys in G1, each times its weight (default 1); undefined when one does not decode.
   * @param weights - little-endian, at most 32 bytes each, below the order
   */
  sumKeys(publicKeys: readonly Uint8Array[], weights?: readonly Uint8Array[]): Uint8Array | undefined
  /** Signature in G1 (48 bytes) by a key in G2 (96 bytes), as drand's quicknet has it. */
  verifyInG1(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
}

/** Positions of each key. */
export function byKey(publicKeys: readonly Uint8Array[]): number[][] {
  const found = new Map<string, number[]>()
  for (let i = 0; i < publicKeys.length; i++) {
    const name = latin1(publicKeys[i] as Uint8Array)
    const known = found.get(name)
    if (known === undefined) found.set(name, [i])
    else known.push(i)
  }
  return [...found.values()]
}
