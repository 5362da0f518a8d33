/**
 * BLS12-381 by mcl-wasm: asynchronous start, synchronous use.
 *
 * The library's exported functions are called on its own memory: points live in buffers that are allocated once, inputs
 * are copied in, results copied out. Not re-entrant; nothing here calls back or waits.
 * @see herumi/mcl include/mcl/bn.h (the C interface that mcl-wasm exports)
 */
import { latin1, utf8 } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import type { BlsBackend } from './blsBackend.ts'
import { byKey, DST_G1, DST_G2 } from './blsBackend.ts'
import { FP_BYTES, FR_BYTES, G1_BYTES, G2_BYTES, GT_BYTES, loadMcl, type Mcl, must } from './mcl.ts'

/** Pairs per Miller loop: bounds the memory that a large aggregate needs. */
const BATCH = 64
/** What is done between two steps of a verification: some 15 ms. */
const HASHES_PER_STEP = 16
const PAIRS_PER_STEP = 16
/** Points of messages that are remembered: those of a full block, some 5 MB; and the longest message, CIDs are shorter. */
const HASHES = 10_000
const MAX_CACHED_BYTES = 64
/** Longest message that is copied into the fixed buffer; longer ones get their own. */
const MESSAGE_BYTES = 4096

/** Generator of G1, compressed. @see draft-irtf-cfrg-pairing-friendly-curves section 4.2.1 */
const G1_GENERATOR = '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb'
/** Generator of G2, compressed. */
const G2_GENERATOR =
  '93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e' +
  '024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8'

class MclBls implements BlsBackend {
  readonly name = 'mcl-wasm'
  readonly #mcl: Mcl
  readonly #memory: { buffer: ArrayBuffer }
  readonly #in: number
  readonly #out: number
  readonly #key: number
  readonly #g1s: number
  readonly #g2s: number
  readonly #sum: number
  readonly #gt: number
  readonly #part: number
  readonly #weights: number
  readonly #keySum: number
  readonly #minusG1: number
  readonly #g2: number
  readonly #hashes = new Lru<string, Uint8Array>(HASHES)

  constructor(mcl: Mcl, memory: { buffer: ArrayBuffer }, fromHex: (text: string) => Uint8Array) {
    this.#mcl = mcl
    this.#memory = memory
    this.#in = mcl._malloc(MESSAGE_BYTES)
    this.#out = mcl._malloc(96)
    this.#key = mcl._malloc(FR_BYTES)
    this.#g1s = mcl._malloc(G1_BYTES * BATCH)
    this.#g2s = mcl._malloc(G2_BYTES * BATCH)
    this.#sum = mcl._malloc(G2_BYTES)
    this.#gt = mcl._malloc(GT_BYTES)
    this.#part = mcl._malloc(GT_BYTES)
    this.#weights = mcl._malloc(FR_BYTES * BATCH)
    this.#keySum = mcl._malloc(G1_BYTES)
    this.#minusG1 = mcl._malloc(G1_BYTES)
    this.#g2 = mcl._malloc(G2_BYTES)
    const dst1 = this.#copyIn(utf8(DST_G1))
    must(mcl._mclBnG1_setDst(dst1, DST_G1.length) === 0, 'setting the tag of G1')
    const dst2 = this.#copyIn(utf8(DST_G2))
    must(mcl._mclBnG2_setDst(dst2, DST_G2.length) === 0, 'setting the tag of G2')
    must(this.#readG1(this.#minusG1, fromHex(G1_GENERATOR)), 'reading the generator of G1')
    mcl._mclBnG1_neg(this.#minusG1, this.#minusG1)
    must(this.#readG2(this.#g2, fromHex(G2_GENERATOR)), 'reading the generator of G2')
  }

  publicKey(secretKey: Uint8Array): Uint8Array | undefined {
    if (!this.#readKey(secretKey)) return undefined
    const mcl = this.#mcl
    mcl._mclBnG1_mulCT(this.#g1s, this.#minusG1, this.#key)
    mcl._mclBnG1_neg(this.#g1s, this.#g1s)
    mcl._mclBnFr_clear(this.#key)
    const length = mcl._mclBnG1_serialize(this.#out, 48, this.#g1s)
    must(length === 48, 'writing a point of G1')
    return this.#copyOut(length)
  }

  sign(message: Uint8Array, secretKey: Uint8Array, point?: Uint8Array): Uint8Array | undefined {
    if (point === undefined) this.#hashToG2(this.#g2s, message)
    else this.#takePoint(this.#g2s, point)
    if (!this.#readKey(secretKey)) return undefined
    const mcl = this.#mcl
    mcl._mclBnG2_mulCT(this.#sum, this.#g2s, this.#key)
    mcl._mclBnFr_clear(this.#key)
    return this.#writeG2(this.#sum)
  }

  *verifySteps(
    signature: Uint8Array,
    messages: readonly Uint8Array[],
    publicKeys: readonly Uint8Array[],
  ): Generator<undefined, boolean> {
    const mcl = this.#mcl
    if (!this.#readG2(this.#sum, signature)) return false
    const g1s: Uint8Array[] = []
    const g2s: Uint8Array[] = []
    if (!mcl._mclBnG2_isZero(this.#sum)) {
      g1s.push(this.#bytes(this.#minusG1, G1_BYTES).slice())
      g2s.push(this.#bytes(this.#sum, G2_BYTES).slice())
    }
    let left = HASHES_PER_STEP
    // Messages under one key share a pairing: e(key, a) e(key, b) = e(key, a + b).
    for (const indices of byKey(publicKeys)) {
      if (!this.#readG1(this.#g1s, publicKeys[indices[0] as number] as Uint8Array)) return false
      if (mcl._mclBnG1_isZero(this.#g1s)) return false
      g1s.push(this.#bytes(this.#g1s, G1_BYTES).slice())
      let sum: Uint8Array | undefined
      for (const i of indices) {
        if (left-- === 0) {
          yield
          left = HASHES_PER_STEP - 1
        }
        const hash = this.#hash(messages[i] as Uint8Array)
        sum = sum === undefined ? hash : this.#addG2(sum, hash)
      }
      g2s.push(sum as Uint8Array)
    }
    let product: Uint8Array | undefined
    for (let start = 0; start < g1s.length; start += PAIRS_PER_STEP) {
      if (product !== undefined) yield
      const end = Math.min(g1s.length, start + PAIRS_PER_STEP)
      for (let i = start; i < end; i++) {
        this.#bytes(this.#g1s + (i - start) * G1_BYTES, G1_BYTES).set(g1s[i] as Uint8Array)
        this.#bytes(this.#g2s + (i - start) * G2_BYTES, G2_BYTES).set(g2s[i] as Uint8Array)
      }
      if (product !== undefined) this.#bytes(this.#gt, GT_BYTES).set(product)
      this.#multiplyIn(end - start, product === undefined)
      product = this.#bytes(this.#gt, GT_BYTES).slice()
    }
    if (product !== undefined) this.#bytes(this.#gt, GT_BYTES).set(product)
    return this.#isOne()
  }

  #addG2(a: Uint8Array, b: Uint8Array): Uint8Array {
    const second = this.#g2s + G2_BYTES
    this.#bytes(this.#g2s, G2_BYTES).set(a)
    this.#bytes(second, G2_BYTES).set(b)
    this.#mcl._mclBnG2_add(this.#g2s, this.#g2s, second)
    return this.#bytes(this.#g2s, G2_BYTES).slice()
  }

  /** A message's point in mcl's own form. The pool checks each message of a block before the block's aggregate is checked. */
  #hash(message: Uint8Array): Uint8Array {
    const key = message.length <= MAX_CACHED_BYTES ? latin1(message) : undefined
    const known = key === undefined ? undefined : this.#hashes.get(key)
    if (known !== undefined) return known
    this.#hashToG2(this.#g2s, message)
    const hash = this.#bytes(this.#g2s, G2_BYTES).slice()
    if (key !== undefined) this.#hashes.set(key, hash)
    return hash
  }

  aggregate(signatures: readonly Uint8Array[]): Uint8Array | undefined {
    const mcl = this.#mcl
    mcl._mclBnG2_clear(this.#sum)
    for (const signature of signatures) {
      if (!this.#readG2(this.#g2s, signature)) return undefined
      mcl._mclBnG2_add(this.#sum, this.#sum, this.#g2s)
    }
    return this.#writeG2(this.#sum)
  }

  verifyTogether(
    signatures: readonly Uint8Array[],
    messages: readonly Uint8Array[],
    publicKeys: readonly Uint8Array[],
    weights: readonly Uint8Array[],
  ): boolean {
    const mcl = this.#mcl
    const sum = this.#weightedSum(signatures.length, weights, (at, i) => this.#readG2(at, signatures[i] as Uint8Array))
    if (sum === undefined) return false
    const pairs: { key: Uint8Array; hashes: Uint8Array }[] = []
    for (const indices of byKey(publicKeys)) {
      const own = indices.map((i) => weights[i] as Uint8Array)
      const hashes = this.#weightedSum(indices.length, own, (at, i) => {
        this.#hashToG2(at, messages[indices[i] as number] as Uint8Array)
        return true
      })
      if (hashes === undefined) return false
      pairs.push({ key: publicKeys[indices[0] as number] as Uint8Array, hashes })
    }
    this.#copyWithin(this.#g1s, this.#minusG1, G1_BYTES)
    this.#bytes(this.#g2s, G2_BYTES).set(sum)
    let count = 1
    let first = true
    for (const { key, hashes } of pairs) {
      const g1 = this.#g1s + count * G1_BYTES
      if (!this.#readG1(g1, key) || mcl._mclBnG1_isZero(g1)) return false
      this.#bytes(this.#g2s + count * G2_BYTES, G2_BYTES).set(hashes)
      if (++count < BATCH) continue
      this.#multiplyIn(count, first)
      first = false
      count = 0
    }
    if (count > 0) this.#multiplyIn(count, first)
    return this.#isOne()
  }

  /** Sum in G2 of points times weights, in mcl's own form; undefined when one does not decode. */
  #weightedSum(
    count: number,
    weights: readonly Uint8Array[],
    read: (at: number, index: number) => boolean,
  ): Uint8Array | undefined {
    const mcl = this.#mcl
    mcl._mclBnG2_clear(this.#sum)
    for (let start = 0; start < count; start += BATCH) {
      const many = Math.min(BATCH, count - start)
      for (let i = 0; i < many; i++) {
        if (!read(this.#g2s + i * G2_BYTES, start + i)) return undefined
        this.#readWeight(this.#weights + i * FR_BYTES, weights[start + i] as Uint8Array)
      }
      mcl._mclBnG2_mulVec(this.#part, this.#g2s, this.#weights, many)
      mcl._mclBnG2_add(this.#sum, this.#sum, this.#part)
    }
    return this.#bytes(this.#sum, G2_BYTES).slice()
  }

  sumKeys(publicKeys: readonly Uint8Array[], weights?: readonly Uint8Array[]): Uint8Array | undefined {
    const mcl = this.#mcl
    mcl._mclBnG1_clear(this.#keySum)
    for (let i = 0; i < publicKeys.length; i++) {
      if (!this.#readG1(this.#g1s, publicKeys[i] as Uint8Array)) return undefined
      const weight = weights?.[i]
      if (weight !== undefined) {
        this.#readWeight(this.#weights, weight)
        mcl._mclBnG1_mul(this.#g1s, this.#g1s, this.#weights)
      }
      mcl._mclBnG1_add(this.#keySum, this.#keySum, this.#g1s)
    }
    const length = mcl._mclBnG1_serialize(this.#out, 48, this.#keySum)
    must(length === 48, 'writing a point of G1')
    return this.#copyOut(length)
  }

  #readWeight(out: number, weight: Uint8Array): void {
    must(this.#mcl._mclBnFr_setLittleEndian(out, this.#copyIn(weight), weight.length) === 0, 'reading a weight')
  }

  verifyInG1(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
    const mcl = this.#mcl
    const second = this.#g1s + G1_BYTES
    if (!this.#readG2(this.#g2s, publicKey) || mcl._mclBnG2_isZero(this.#g2s)) return false
    // An infinite signature cannot match: the other pairing is never one.
    if (!this.#readG1(second, signature) || mcl._mclBnG1_isZero(second)) return false
    const at = this.#copyIn(message)
    must(mcl._mclBnG1_hashAndMapTo(this.#g1s, at, message.length) === 0, 'hashing to G1')
    mcl._mclBnG1_neg(second, second)
    this.#copyWithin(this.#g2s + G2_BYTES, this.#g2, G2_BYTES)
    this.#multiplyIn(2, true)
    return this.#isOne()
  }

  #bytes(at: number, length: number): Uint8Array {
    // A fresh view each time: the memory may have grown.
    return new Uint8Array(this.#memory.buffer, at, length)
  }

  #copyIn(data: Uint8Array): number {
    // Messages are CIDs and block headers; whatever is longer costs memory once.
    const at = data.length <= MESSAGE_BYTES ? this.#in : this.#longBuffer(data.length)
    this.#bytes(at, data.length).set(data)
    return at
  }

  #long = 0
  #longSize = 0

  #longBuffer(length: number): number {
    if (length > this.#longSize) {
      this.#longSize = length
      this.#long = this.#mcl._malloc(length)
      must(this.#long !== 0, 'allocating memory')
    }
    return this.#long
  }

  #copyOut(length: number): Uint8Array {
    return this.#bytes(this.#out, length).slice()
  }

  #copyWithin(to: number, from: number, length: number): void {
    new Uint8Array(this.#memory.buffer).copyWithin(to, from, from + length)
  }

  #readKey(secretKey: Uint8Array): boolean {
    const mcl = this.#mcl
    const at = this.#copyIn(secretKey)
    const read = mcl._mclBnFr_setLittleEndian(this.#key, at, secretKey.length) === 0
    // mcl cuts a number that is too long; only what writes back equal was below the order.
    const length = read ? mcl._mclBnFr_serialize(this.#out, FR_BYTES, this.#key) : 0
    const same = length === FR_BYTES && this.#equalsReversed(at)
    this.#bytes(at, secretKey.length).fill(0)
    this.#bytes(this.#out, FR_BYTES).fill(0)
    return same && mcl._mclBnFr_isZero(this.#key) === 0
  }

  /** Compares the key at `at` (little-endian) with the one just written (big-endian). */
  #equalsReversed(at: number): boolean {
    const given = this.#bytes(at, FR_BYTES)
    const written = this.#bytes(this.#out, FR_BYTES)
    let difference = 0
    for (let i = 0; i < FR_BYTES; i++) difference |= (given[i] as number) ^ (written[FR_BYTES - 1 - i] as number)
    return difference === 0
  }

  #readG1(out: number, bytes: Uint8Array): boolean {
    return this.#mcl._mclBnG1_deserialize(out, this.#copyIn(bytes), bytes.length) === bytes.length
  }

  #readG2(out: number, bytes: Uint8Array): boolean {
    return this.#mcl._mclBnG2_deserialize(out, this.#copyIn(bytes), bytes.length) === bytes.length
  }

  #writeG2(at: number): Uint8Array {
    const length = this.#mcl._mclBnG2_serialize(this.#out, 96, at)
    must(length === 96, 'writing a point of G2')
    return this.#copyOut(length)
  }

  /** A point that another back end made. What is not of the group would tell something of the key. */
  #takePoint(out: number, coordinates: Uint8Array): void {
    const mcl = this.#mcl
    mcl._mclBnG2_clear(out)
    for (let at = 0; at < coordinates.length; at += FP_BYTES) {
      const bytes = this.#copyIn(coordinates.subarray(at, at + FP_BYTES))
      must(mcl._mclBnFp_setLittleEndian(out + at, bytes, FP_BYTES) === 0, 'reading a coordinate')
    }
    mcl._mclBnFp_setInt32(out + coordinates.length, 1)
    must(mcl._mclBnG2_isValid(out) === 1, 'taking a point of G2')
  }

  #hashToG2(out: number, message: Uint8Array): void {
    must(this.#mcl._mclBnG2_hashAndMapTo(out, this.#copyIn(message), message.length) === 0, 'hashing to G2')
  }

  #multiplyIn(count: number, first: boolean): void {
    const mcl = this.#mcl
    mcl._mclBn_millerLoopVec(first ? this.#gt : this.#part, this.#g1s, this.#g2s, count)
    if (!first) mcl._mclBnGT_mul(this.#gt, this.#gt, this.#part)
  }

  #isOne(): boolean {
    this.#mcl._mclBn_finalExp(this.#gt, this.#gt)
    return this.#mcl._mclBnGT_isOne(this.#gt) === 1
  }
}

/** mcl as Filecoin's signatures need it: IETF hash-to-curve with its own tags. */
export async function loadMclBls(): Promise<BlsBackend> {
  const { mcl, memory, fromHex } = await loadMcl()
  return new MclBls(mcl, memory, fromHex)
}
